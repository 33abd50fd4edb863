// The shape that a picture will have when it is decoded, from its header alone.
#include "ops/decode/source.h"

namespace ps {

class PeekImageShape : public Operator {
 public:
  explicit PeekImageShape(const Spec& s) : dtype_(s.dtype("dtype")) {
    options_.type = ImageType(s.integer("image_type"));
    options_.adjust_orientation = s.flag("adjust_orientation");
  }

  void setup(const Context& c) const override {
    c.out(0).dtype = dtype_;
    c.out(0).shape = {3};
    c.out(0).layout = {};
  }

  void run(const Context& c) const override {
    check_file(c.in(0));
    const RowFormat f = output_format(peek(c.in(0).as<uint8_t>(), c.in(0).bytes()), options_);
    const int64_t shape[3] = {f.height, f.width, f.channels};
    switch (dtype_) {
      case DType::u32: return store<uint32_t>(shape, c.out(0));
      case DType::i32: return store<int32_t>(shape, c.out(0));
      case DType::u64: return store<uint64_t>(shape, c.out(0));
      case DType::i64: return store<int64_t>(shape, c.out(0));
      case DType::f32: return store<float>(shape, c.out(0));
      case DType::f64: return store<double>(shape, c.out(0));
      default: fail(ErrorKind::argument, std::string("dtype=") + name_of(dtype_) + " cannot hold a shape");
    }
  }

 private:
  template <class T> static void store(const int64_t* shape, Tensor& to) {
    for (int i = 0; i < 3; i++) to.as<T>()[i] = T(shape[i]);
  }
  DType dtype_;
  DecodeOptions options_;
};

PS_OPERATOR("peek_image_shape", PeekImageShape)

}  // namespace ps
