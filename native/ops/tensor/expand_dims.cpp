// Axes of extent 1 put in. The engine passes the input's memory on.
#include "core/operator.h"

namespace ps {

class ExpandDims : public Operator {
 public:
  explicit ExpandDims(const Spec& s) : axes_(s.arg<int64_t>("axes")), names_(s.string("new_axis_names")) {}

  void setup(const Context& c) const override {
    const Tensor& in = c.in(0);
    Tensor& out = c.out(0);
    const int64_t added = axes_.size(c), n = in.shape.ndim + added;
    if (!names_.empty() && int64_t(names_.size()) != added)
      fail(ErrorKind::argument, "new_axis_names='" + names_ + "' does not name " + std::to_string(added) + " axes");
    if (n > kMaxDims)
      fail(ErrorKind::argument, "the output would have " + std::to_string(n) + " axes; at most " +
                                    std::to_string(kMaxDims) + " can be");
    if (!names_.empty() && in.layout.empty() && in.shape.ndim > 0)
      fail(ErrorKind::layout, "new_axis_names='" + names_ + "' is given, but the input has no layout to add them to");
    char names[kMaxDims] = {};
    bool is_new[kMaxDims] = {};
    for (int64_t i = 0; i < added; i++) {
      const int64_t axis = axes_.get(c, i);
      if (axis < 0 || axis >= n || is_new[axis])
        fail(ErrorKind::axis, "axes: " + std::to_string(axis) + " is beyond the output's last axis " +
                                  std::to_string(n - 1) + ", or named twice");
      is_new[axis] = true;
      if (!names_.empty()) names[axis] = names_[size_t(i)];
    }
    out.dtype = in.dtype;
    out.shape = {};
    out.layout = {};
    for (int i = 0, from = 0; i < n; i++) {
      if (!is_new[i]) names[i] = in.layout.axes[from];
      out.shape.push(is_new[i] ? 1 : in.shape[from++]);
      if (!names_.empty() || added == 0) out.layout.axes[i] = names[i];
    }
  }

  void run(const Context&) const override {}

 private:
  Arg<int64_t> axes_;
  std::string names_;
};

PS_OPERATOR("expand_dims", ExpandDims)

}  // namespace ps
