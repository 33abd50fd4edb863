// Tensors made larger at the end of their axes.
#include <algorithm>
#include <string>
#include <vector>

#include "cuda/record/operator.h"
#include "ops/arguments/axes.h"
#include "ops/gather/canvas.h"

namespace ps {

class Pad : public Operator, public GpuOperator {
 public:
  explicit Pad(const Spec& s)
      : fill_(s.arg<float>("fill_value")), axes_(s), shape_(s.arg<int64_t>("shape")),
        align_(s.arg<int64_t>("align")) {}

  void setup(const Context& c) const override {
    const Tensor& in = c.in(0);
    Tensor& out = c.out(0);
    out.dtype = in.dtype;
    out.shape = in.shape;
    out.layout = in.layout;
    int axes[kMaxDims];
    const int count = axes_.find_or_all(c, in.shape, in.layout, axes);
    for (int i = 0; i < count; i++) {
      const int axis = axes[i];
      const int64_t wanted = value(c, shape_, "shape", i, count, -1);
      const int64_t align = value(c, align_, "align", i, count, 1);
      int64_t& extent = out.shape[axis];
      if (align <= 0) fail(ErrorKind::argument, "align is " + std::to_string(align) + ": expected a positive number");
      if (wanted > kMost || align > kMost) fail(ErrorKind::argument, "more than 2^48 elements on one axis");
      extent = std::max(extent, wanted >= 0 ? wanted : largest(c, axis));
      extent = (extent + align - 1) / align * align;
    }
  }

  void run(const Context& c) const override {
    draw_canvas(c.in(0), c.out(0), region(c), cast_numbers({number(c)}, c.in(0).dtype));
  }

  void record(gpu::Recorder& r) const override {
    std::vector<double> fills;
    for (int i = 0; i < r.size(); i++) fills.push_back(number(r[i]));
    if (r.size()) record_canvas(r, cast_numbers(fills, r[0].in(0).dtype), 1, region);
  }

 private:
  static constexpr int64_t kMost = int64_t(1) << 48;

  static Region region(const Context& c) {
    Region r = Region::whole(c.in(0).shape);
    r.shape = c.out(0).shape;
    return r;
  }

  double number(const Context& c) const { return double(fill_.get(c)); }

  // Of all samples.
  static int64_t largest(const Context& c, int axis) {
    int64_t most = 0;
    for (int i = 0; i < c.batch; i++) {
      const Shape& other = c.in(0, i).shape;
      if (other.ndim != c.in(0).shape.ndim)
        fail(ErrorKind::argument, "the batch has samples of " + std::to_string(other.ndim) + " and of " +
                                      std::to_string(c.in(0).shape.ndim) + " axes");
      most = std::max(most, other[axis]);
    }
    return most;
  }

  static int64_t value(const Context& c, const Arg<int64_t>& a, const char* name, int i, int axes, int64_t fallback) {
    return a.size(c) ? axis_value(c, a, name, i, axes) : fallback;
  }

  Arg<float> fill_;
  AxesArgument axes_;
  Arg<int64_t> shape_, align_;
};

PS_OPERATOR("pad", Pad)

}  // namespace ps
