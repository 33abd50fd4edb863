// Tensors joined along a new axis.
#include "ops/tensor/join.h"

namespace ps {

class Stack : public Join {
 public:
  using Join::Join;

 protected:
  int64_t join(const Context& c, Tensor& out) const override {
    const Shape& shape = c.in(0).shape;
    for (int i = 1; i < c.num_inputs; i++)
      if (!(c.in(i).shape == shape))
        fail(ErrorKind::argument, described(c, i) + ", but " + described(c, 0) + "; expected the same shape");
    if (shape.ndim == kMaxDims)
      fail(ErrorKind::argument, "the result would have more than " + std::to_string(kMaxDims) + " axes");
    const int64_t axis = counted(shape.ndim + 1);
    const Layout old = layout(c);
    const bool name = !name_.empty();
    if (name && old.empty() && shape.ndim)
      fail(ErrorKind::layout, "axis_name='" + name_ + "' is given, but the inputs have no layout to add it to");
    out.shape = {};
    out.layout = {};
    for (int i = 0, from = 0; i <= shape.ndim; i++) {
      if (name) out.layout.axes[i] = i == axis ? name_[0] : old.axes[from];
      out.shape.push(i == axis ? c.num_inputs : shape[from]);
      from += i != axis;
    }
    return axis;
  }
};

PS_OPERATOR("stack", Stack)

}  // namespace ps
