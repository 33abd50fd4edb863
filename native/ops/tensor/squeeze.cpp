// Axes of extent 1 taken out; of tensors without elements, any axes that leave none. The engine passes the input's
// memory on.
#include "ops/arguments/axes.h"

namespace ps {

class Squeeze : public Operator {
 public:
  explicit Squeeze(const Spec& s) : axes_(s) {}

  void setup(const Context& c) const override {
    const Tensor& in = c.in(0);
    Tensor& out = c.out(0);
    bool removed[kMaxDims];
    int thick = -1;                    // an axis of another extent
    axes_.mark(c, in, removed);
    for (int i = 0; i < in.shape.ndim; i++)
      if (removed[i] && in.shape[i] != 1) thick = i;
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
  AxesArgument axes_;
};

PS_OPERATOR("squeeze", Squeeze)

}  // namespace ps
