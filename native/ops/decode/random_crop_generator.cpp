// Draws random windows for pictures of given shapes.
#include "ops/arguments/random_crop.h"

namespace ps {

class RandomCropGenerator : public Operator {
 public:
  static constexpr Count kOutputs{2, 2};
  explicit RandomCropGenerator(const Spec& s) : crop_(random_crop_params(s)) {}

  void setup(const Context& c) const override {
    const Tensor& shape = c.in(0);
    const bool whole = size_of(shape.dtype) > 0 && !is_float(shape.dtype) && shape.dtype != DType::boolean;
    if (!whole || shape.shape.ndim != 1 || shape.shape[0] < 2 || shape.shape[0] > 3)
      fail(ErrorKind::type, std::string("expected a picture's shape, (H, W) or (H, W, C), as 1-D whole numbers; got ") +
           name_of(shape.dtype) + " of shape " + to_string(shape.shape));
    for (int k = 0; k < 2; k++) {
      c.out(k).dtype = DType::i32;
      c.out(k).shape = {2};
      c.out(k).layout = {};
    }
  }

  void run(const Context& c) const override {
    Philox random = c.random();
    const int64_t height = element_i64(c.in(0), 0), width = element_i64(c.in(0), 1);
    const Window w = random_crop([&] { return random.next(); }, width, height, crop_);
    int32_t* anchor = c.out(0).as<int32_t>();
    int32_t* shape = c.out(1).as<int32_t>();
    anchor[0] = int32_t(w.y0), anchor[1] = int32_t(w.x0);
    shape[0] = int32_t(w.height()), shape[1] = int32_t(w.width());
  }

 private:
  RandomCropParams crop_;
};

PS_OPERATOR("random_crop_generator", RandomCropGenerator)

}  // namespace ps
