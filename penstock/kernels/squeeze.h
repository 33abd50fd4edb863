// Axes of extent 1 taken out; of tensors without elements, any axes that leave none. The engine hands the input's memory on.
#pragma once

#include "core/operator.h"

namespace ps {

class Squeeze : public Operator {
 public:
  explicit Squeeze(const Spec& s) : axes_(s.arg<int64_t>("axes")), names_(s.string("axis_names")) {}

  void setup(const Context& c) const override {
    const Tensor& in = c.in(0);
    Tensor& out = c.out(0);
    bool removed[kMaxDims] = {};
    int thick = -1;                    // an axis of another extent
    const int64_t count = axes_.given() ? axes_.size(c) : int64_t(names_.size());
    for (int64_t i = 0; i < count; i++) {
      const int axis = axes_.given() ? by_number(in, axes_.get(c, i)) : by_name(in, names_[size_t(i)]);
      if (removed[axis]) fail(ErrorKind::argument, "axis " + std::to_string(axis) + " is named twice");
      removed[axis] = true;
      if (in.shape[axis] != 1) thick = axis;
    }
    out.dtype = in.dtype;
    out.shape = {};
    out.layout = {};
    for (int i = 0; i < in.shape.ndim; i++) {
      if (removed[i]) continue;
      out.layout.axes[out.shape.ndim] = in.layout.empty() ? '\0' : in.layout.axes[i];
      out.shape.push(in.shape[i]);
    }
    if (thick >= 0 && (in.shape.volume() || out.shape.volume()))
      fail(ErrorKind::argument, "axis " + std::to_string(thick) + " of " + to_string(in.shape) +
                                    " is not of extent 1, so it can't be taken out");
  }

  void run(const Context&) const override {}

 private:
  static int by_number(const Tensor& in, int64_t axis) {
    const int64_t n = in.shape.ndim, counted = axis < 0 ? axis + n : axis;
    if (counted < 0 || counted >= n)
      fail(ErrorKind::argument, "there is no axis " + std::to_string(axis) + " in " + to_string(in.shape));
    return int(counted);
  }
  static int by_name(const Tensor& in, char name) {
    const int axis = in.layout.find(name);
    if (axis < 0 || axis >= in.shape.ndim)
      fail(ErrorKind::argument, std::string("there is no axis '") + name + "' in the layout '" +
                                    std::string(in.layout.view()) + "'");
    return axis;
  }

  Arg<int64_t> axes_;
  std::string names_;
};

PS_OPERATOR("squeeze", Squeeze)

}  // namespace ps
