// Tensors made larger at the end of their axes.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "core/operator.h"
#include "gpu/operator.h"
#include "kernels/canvas.h"

namespace ps {

class Pad : public Operator, public GpuOperator {
 public:
  explicit Pad(const Spec& s)
      : fill_(s.arg<float>("fill_value")), axes_(s.arg<int64_t>("axes")), shape_(s.arg<int64_t>("shape")),
        align_(s.arg<int64_t>("align")), axis_names_(s.string("axis_names")) {}

  void setup(const Context& c) const override {
    const Tensor& in = c.in(0);
    Tensor& out = c.out(0);
    out.dtype = in.dtype;
    out.shape = in.shape;
    out.layout = in.layout;
    int axes[kMaxDims];
    const int count = find_axes(c, axes);
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

  double number(const Context& c) const { return double(fill_.get_or(c, 0)); }

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

  int find_axes(const Context& c, int* axes) const {
    const Tensor& in = c.in(0);
    const int given = axis_names_.empty() ? int(axes_.size(c)) : int(axis_names_.size());
    if (given == 0) {
      for (int i = 0; i < in.shape.ndim; i++) axes[i] = i;
      return in.shape.ndim;
    }
    if (given > kMaxDims) fail(ErrorKind::argument, std::to_string(given) + " axes are more than any tensor has");
    for (int i = 0; i < given; i++) {
      const int64_t axis = axis_names_.empty() ? axes_.get(c, i) : in.layout.find(axis_names_[size_t(i)]);
      if (!axis_names_.empty() && axis < 0)
        fail(ErrorKind::argument, std::string("axis_names: the layout '") + in.layout.axes + "' has no axis '" +
                                      axis_names_[size_t(i)] + "'");
      if (axis < -in.shape.ndim || axis >= in.shape.ndim)
        fail(ErrorKind::argument, "axes: " + std::to_string(axis) + " is no axis of the shape " + to_string(in.shape));
      axes[i] = int(axis < 0 ? axis + in.shape.ndim : axis);
      for (int j = 0; j < i; j++)
        if (axes[j] == axes[i]) fail(ErrorKind::argument, axis_name(in.layout, axes[i]) + " is named twice");
    }
    return given;
  }

  static int64_t value(const Context& c, const Arg<int64_t>& a, const char* name, int i, int axes, int64_t fallback) {
    const int64_t have = a.size(c);
    if (have == 0) return fallback;
    if (have != 1 && have != axes)
      fail(ErrorKind::argument, std::string(name) + " has " + std::to_string(have) + " values for " +
                                    std::to_string(axes) + " axes");
    return a.get(c, have == 1 ? 0 : i);
  }

  Arg<float> fill_;
  Arg<int64_t> axes_, shape_, align_;
  std::string axis_names_;
};

PS_OPERATOR("pad", Pad)

}  // namespace ps
