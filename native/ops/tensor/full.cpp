// A tensor filled with a value, or with a smaller tensor over and over.
#include <cstring>

#include "core/converter.h"
#include "core/operator.h"
#include "cuda/record/elementwise.h"
#include "device/tensor/functions.h"

namespace ps {

class Full : public Operator, public GpuOperator {
 public:
  static constexpr Count kInputs{0, 2};
  explicit Full(const Spec& s)
      : shape_(s.arg<int64_t>("shape")), has_value_(s.find("value")), value_(has_value_ ? s.number("value") : 0),
        like_(s.num_inputs > (has_value_ ? 0 : 1)), dtype_(s.dtype("dtype")),
        layout_(s.string("layout")) {
    const int wanted = s.num_inputs - (has_value_ ? 0 : 1);
    if (wanted < 0 || wanted > 1) fail(ErrorKind::argument, "it has " + std::to_string(s.num_inputs) + " inputs");
    if (dtype_ == DType::none && !s.num_inputs) fail(ErrorKind::type, "dtype: the output's type is not given");
    number_.data = &value_;
    number_.dtype = DType::f64;
  }

  bool reads_elements(int input) const override { return !has_value_ && input == 0; }

  void setup(const Context& c) const override {
    Tensor& out = c.out(0);
    out.dtype = dtype_ != DType::none ? dtype_ : c.in(0).dtype;
    out.shape = like_ || (!shape_.given() && !has_value_) ? c.in(0).shape : shape(c);
    out.layout = like_ ? c.in(0).layout : Layout(layout_);
    if (!like_ && !layout_.empty() && int(layout_.size()) != out.shape.ndim)
      fail(ErrorKind::layout, "layout='" + layout_ + "' does not fit the shape " + to_string(out.shape));
    if (!has_value_) check(c);
  }

  void run(const Context& c) const override {
    Tensor& out = c.out(0);
    const size_t total = out.bytes();
    if (!total) return;
    size_t done = size_of(out.dtype);
    if (has_value_) {
      converter(DType::f64, out.dtype)(&value_, out.data, 1);
    } else {
      const Tensor& fill = filler(c);
      // Extents of 1 repeat single elements, so elements are gathered; else the filler is copied and then repeated.
      const Convert convert = converter(fill.dtype, out.dtype);
      if (!stretched(fill.shape, out.shape)) {
        convert(fill.data, out.data, size_t(fill.shape.volume()));
        done *= size_t(fill.shape.volume());
      } else {
        for (int64_t i = 0, n = out.shape.volume(); i < n; i++)
          convert(fill.as<uint8_t>() + size_t(source(fill.shape, out.shape, i)) * size_of(fill.dtype),
                  out.as<uint8_t>() + size_t(i) * size_of(out.dtype), 1);
        return;
      }
    }
    for (size_t n; done < total; done += n)
      std::memcpy(out.as<uint8_t>() + done, out.data, n = std::min(done, total - done));
  }

  void record(gpu::Recorder& r) const override {
    gpu::record_elementwise(r, [&](const Context& c) -> gpu::ElementwiseCall {
      const Tensor& t = has_value_ ? number_ : filler(c);
      return {PS_DEVICE_TYPE(Same), 1, {{&t, has_value_, t.dtype}}};
    });
  }

 private:
  const Tensor& filler(const Context& c) const { return c.in(like_ ? 1 : 0); }

  Shape shape(const Context& c) const {
    Shape s;
    const int64_t n = shape_.size(c);
    if (n > kMaxDims) fail(ErrorKind::argument, "shape has more than " + std::to_string(kMaxDims) + " elements");
    for (int64_t i = 0; i < n; i++) {
      s.push(shape_.get(c, i));
      if (s[int(i)] < 0) fail(ErrorKind::argument, "shape=" + to_string(s) + " has a negative extent");
    }
    return s;
  }

  void check(const Context& c) const {
    const Shape &f = filler(c).shape, &s = c.out(0).shape;
    bool fits = f.ndim <= s.ndim;
    for (int i = 1; fits && i <= f.ndim; i++) fits = f[f.ndim - i] == 1 || f[f.ndim - i] == s[s.ndim - i];
    if (!fits)
      fail(ErrorKind::argument, "a filler of shape " + to_string(f) + " can't fill the shape " + to_string(s));
  }

  static bool stretched(const Shape& fill, const Shape& out) {
    if (fill.volume() == 1) return false;
    for (int i = 1; i <= fill.ndim; i++)
      if (fill[fill.ndim - i] != out[out.ndim - i]) return true;
    return false;
  }

  static int64_t source(const Shape& fill, const Shape& out, int64_t i) {
    int64_t at = 0, step = 1;
    for (int k = 1; k <= fill.ndim; k++) {
      const int64_t e = fill[fill.ndim - k];
      if (e != 1) at += i % out[out.ndim - k] * step;
      i /= out[out.ndim - k];
      step *= e;
    }
    return at;
  }

  Arg<int64_t> shape_;
  Tensor number_;                                    // the value
  bool has_value_;
  double value_;
  bool like_;
  DType dtype_;
  std::string layout_;
};

PS_OPERATOR("full", Full)

}  // namespace ps
