// Pictures cut to a random window, and the boxes that it has.
#include <cmath>
#include <cstring>
#include <string>

#include "core/operator.h"
#include "ops/boxes/random_bbox_crop/operator.h"

namespace ps {

class SsdRandomCrop : public Operator {
 public:
  static constexpr Count kInputs{3, 3}, kOutputs{3, 3};
  explicit SsdRandomCrop(const Spec& s) : crop_(s) {}

  void setup(const Context& c) const override {
    const Tensor& in = c.in(0);
    if (in.shape.ndim != 3 || !(in.layout.empty() || in.layout == Layout("HWC")))
      fail(ErrorKind::layout, std::string("expected pictures of layout HWC, got '") + in.layout.axes +
                                  "' and the shape " + to_string(in.shape));
    if (c.in(1).shape.ndim != 2 || c.in(1).shape[1] != 4)
      fail(ErrorKind::type, "expected boxes of the shape (boxes, 4), got " + to_string(c.in(1).shape));
    Crop crop(c);
    crop_.setup(crop.context);
    const Window window = pixels(c);
    c.out(0).dtype = in.dtype;
    c.out(0).layout = in.layout;
    c.out(0).shape = {window.height(), window.width(), in.shape[2]};
  }

  void run(const Context& c) const override {
    Crop crop(c);
    crop_.run(crop.context);
    const Tensor &in = c.in(0), &out = c.out(0);
    if (!out.bytes()) return;
    const Window window = pixels(c);
    const size_t pixel = size_t(in.shape[2]) * size_of(in.dtype), row = size_t(out.shape[1]) * pixel;
    for (int64_t y = 0; y < out.shape[0]; y++)
      std::memcpy(out.as<uint8_t>() + size_t(y) * row,
                  in.as<uint8_t>() + size_t((window.y0 + y) * in.shape[1] + window.x0) * pixel, row);
  }

  size_t params_size() const override { return crop_.params_size(); }

 private:
  // What random_bbox_crop sees: boxes and labels, and as outputs the window, which is no output here, and these.
  struct Crop {
    float numbers[2][2] = {};
    Tensor start, shape;
    Tensor* outputs[4];
    Context context;

    explicit Crop(const Context& c) : outputs{&start, &shape, &c.out(1), &c.out(2)}, context(c) {
      start.data = numbers[0];
      shape.data = numbers[1];
      context.inputs = c.inputs + 1;
      context.num_inputs = 2;
      context.outputs = outputs;
      context.num_outputs = 4;
    }
  };

  static Window pixels(const Context& c) {
    const AxisBox& window = RandomBboxCrop::window_of(c);
    const Shape& in = c.in(0).shape;
    const auto pixel = [](float share, int64_t extent) { return int64_t(std::round(double(share) * double(extent))); };
    return {pixel(window.low[0], in[1]), pixel(window.low[1], in[0]), pixel(window.high[0], in[1]),
            pixel(window.high[1], in[0])};
  }

  RandomBboxCrop crop_;
};

PS_OPERATOR("ssd_random_crop", SsdRandomCrop)

}  // namespace ps
