// The same elements under another shape, layout or type. The engine passes the input's memory on: nothing is copied.
#include <cmath>

#include "core/operator.h"

namespace ps {

class Reshape : public Operator {
 public:
  static constexpr Count kInputs{1, 2};
  explicit Reshape(const Spec& s)
      : shape_(s.arg<int64_t>("shape")), src_dims_(s.arg<int64_t>("src_dims")), rel_shape_(s.arg<double>("rel_shape")),
        dtype_(s.dtype("dtype")), layout_given_(s.find("layout") != nullptr),
        layout_(s.string("layout")) {
    const int shapes = (s.num_inputs > 1) + shape_.given() + rel_shape_.given();
    if (shapes > 1)
      fail(ErrorKind::argument, "give the shape in one way: as the second input, as shape or as rel_shape");
    if (!shapes && !src_dims_.given() && !layout_given_ && dtype_ == DType::none)
      fail(ErrorKind::argument, "nothing is given that would change the input");
  }

  void setup(const Context& c) const override {
    const Tensor& in = c.in(0);
    Tensor& out = c.out(0);
    out.dtype = dtype_ == DType::none ? in.dtype : dtype_;
    for (DType type : {in.dtype, out.dtype})
      if (!size_of(type)) fail(ErrorKind::type, std::string("expected a type of numbers, got ") + name_of(type));
    out.shape = requested(c, out.dtype);
    infer(in, out);
    if (out.bytes() != in.bytes())
      fail(ErrorKind::argument, "shape " + to_string(out.shape) + " of " + name_of(out.dtype) + " takes " +
                                    std::to_string(out.bytes()) + " bytes, but the input " + described(in) + " has " +
                                    std::to_string(in.bytes()));
    if (layout_given_ && !layout_.empty() && int(layout_.size()) != out.shape.ndim)
      fail(ErrorKind::layout, "layout='" + layout_ + "' does not fit the shape " + to_string(out.shape));
    out.layout = layout_given_ ? Layout(layout_) : out.shape.ndim == in.shape.ndim ? in.layout : Layout();
  }

  void run(const Context&) const override {}

 private:
  static std::string described(const Tensor& t) { return to_string(t.shape) + " of " + name_of(t.dtype); }

  // With -1 where an extent is to be inferred.
  Shape requested(const Context& c, DType dtype) const {
    const Tensor& in = c.in(0);
    Shape s;
    if (c.num_inputs > 1) {
      const Tensor& wanted = c.in(1);
      if (wanted.shape.ndim != 1 || is_float(wanted.dtype))
        fail(ErrorKind::type, "the second input, a shape, is " + described(wanted) + "; expected one axis of integers");
      for (int64_t i = 0, n = checked(wanted.shape[0]); i < n; i++) s.push(element_i64(wanted, i));
    } else if (shape_.given()) {
      for (int64_t i = 0, n = checked(shape_.size(c)); i < n; i++) s.push(shape_.get(c, i));
    } else if (rel_shape_.given()) {
      const int64_t n = checked(rel_shape_.size(c));
      // An extent that is inferred, being the last one, may be a new axis.
      const bool spare = n == in.shape.ndim + 1 && rel_shape_.get(c, n - 1) < 0;
      if (src_dims_.given() ? src_dims_.size(c) != n : n > in.shape.ndim + spare)
        fail(ErrorKind::argument, "rel_shape has " + std::to_string(n) + " elements, but " +
                                      (src_dims_.given() ? "src_dims has " + std::to_string(src_dims_.size(c))
                                                         : "the input's shape is " + to_string(in.shape)));
      for (int i = 0; i < n; i++) {
        const double r = rel_shape_.get(c, i);
        if (!std::isfinite(r))
          fail(ErrorKind::argument, "rel_shape[" + std::to_string(i) + "] is " + std::to_string(r) +
                                        "; expected a finite number");
        s.push(r < 0 ? -1 : int64_t(std::round(r * double(source(c, i)))));
      }
    } else {
      const int64_t n = src_dims_.given() ? checked(src_dims_.size(c)) : in.shape.ndim;
      for (int i = 0; i < n; i++) s.push(source(c, i));
      if (dtype != in.dtype && size_of(dtype) != size_of(in.dtype)) rescale(s, in.dtype, dtype);
    }
    return s;
  }

  static int64_t checked(int64_t n) {
    if (n > kMaxDims)
      fail(ErrorKind::argument,
           "a shape of " + std::to_string(n) + " axes; at most " + std::to_string(kMaxDims) + " can be");
    return n;
  }

  // The input's extent that axis i of the output is made from; a new axis has 1.
  int64_t source(const Context& c, int i) const {
    const Shape& in = c.in(0).shape;
    const int64_t from = src_dims_.given() ? src_dims_.get(c, i) : i;
    if (from < -1 || from >= in.ndim)
      fail(ErrorKind::axis, "src_dims[" + std::to_string(i) + "]=" + std::to_string(from) +
                                ": expected -1 (a new axis) or an axis of the input " + to_string(in));
    return from < 0 ? 1 : in[int(from)];
  }

  // As many bytes as before in the innermost axis.
  static void rescale(Shape& s, DType from, DType to) {
    const int last = s.ndim - 1;
    const int64_t bytes = s.ndim ? s[last] * int64_t(size_of(from)) : int64_t(size_of(from));
    if (!s.ndim || bytes % int64_t(size_of(to)))
      fail(ErrorKind::argument, "the innermost axis of " + to_string(s) + " holds " + std::to_string(bytes) +
                                    " bytes, which are no whole number of " + name_of(to));
    s[last] = bytes / int64_t(size_of(to));
  }

  static void infer(const Tensor& in, Tensor& out) {
    int open = -1;
    int64_t others = 1;
    for (int i = 0; i < out.shape.ndim; i++) {
      if (out.shape[i] >= 0) {
        if (__builtin_mul_overflow(others, out.shape[i], &others)) return;   // too large for any input, as bytes() says
      } else {
        if (open >= 0)
          fail(ErrorKind::argument, "at most one extent can be negative (to be inferred): " + to_string(out.shape));
        open = i;
      }
    }
    if (open < 0) return;
    const int64_t volume = int64_t(in.bytes() / size_of(out.dtype));
    if (!others)
      fail(ErrorKind::argument, "extent " + std::to_string(open) + " of " + to_string(out.shape) +
                                    " cannot be inferred: with the others it makes no elements, whatever it is");
    out.shape[open] = volume / others;
  }

  Arg<int64_t> shape_, src_dims_;
  Arg<double> rel_shape_;
  DType dtype_;
  bool layout_given_;
  std::string layout_;
};

PS_OPERATOR("reshape", Reshape)

}  // namespace ps
