// Tensors joined along an axis that they have.
#include "ops/arguments/region.h"
#include "ops/tensor/join.h"

namespace ps {

class Cat : public Join {
 public:
  using Join::Join;

 protected:
  int64_t join(const Context& c, Tensor& out) const override {
    out.layout = c.in(0).layout;
    const int64_t axis = name_.empty() ? counted(c.in(0).shape.ndim) : named(c, out.layout);
    int model = 0;                     // whose other extents all must have
    while (model + 1 < c.num_inputs && c.in(model).shape.volume() == 0) model++;
    if (c.in(model).shape.volume() == 0) model = 0;
    out.shape = c.in(model).shape;
    out.shape[int(axis)] = 0;
    for (int i = 0; i < c.num_inputs; i++) {
      if (fits(c.in(i).shape, out.shape, axis)) {
        out.shape[int(axis)] += c.in(i).shape[int(axis)];
      } else if (c.in(i).shape.volume() != 0) {            // no elements: nothing to join
        fail(ErrorKind::argument, described(c, i) + ", but " + described(c, model) +
                                      "; expected the same extents but on " + axis_name(out.layout, int(axis)));
      }
    }
    return axis;
  }

 private:
  static bool fits(const Shape& s, const Shape& model, int64_t axis) {
    for (int i = 0; i < s.ndim; i++)
      if (i != axis && s[i] != model[i]) return false;
    return true;
  }

  int64_t named(const Context& c, Layout& found) const {
    found = layout(c);
    for (int i = 0; i < c.num_inputs; i++)
      if (!c.in(i).layout.empty() && !(c.in(i).layout == found))
        fail(ErrorKind::layout, "axis_name='" + name_ + "' is given, but the layouts '" + found.axes + "' and '" +
                                    c.in(i).layout.axes + "' differ");
    const int axis = found.find(name_[0]);
    if (axis < 0)
      fail(ErrorKind::layout, "axis_name='" + name_ + "': there is no such axis in the layout '" + found.axes + "'");
    return axis;
  }
};

PS_OPERATOR("cat", Cat)

}  // namespace ps
