// A part of a tensor, along some of its axes.
#include "ops/arguments/slice_window.h"
#include "ops/geometry/cut.h"

namespace ps {

class Slice : public Cut {
 public:
  static constexpr Count kInputs{1, 3};
  explicit Slice(const Spec& s) : Cut(s), window_(s) {}

 protected:
  Region region(const Context& c, const Shape& input, const Layout& layout) const override {
    return window_.region(c, input, layout);
  }

 private:
  SliceWindow window_;
};

PS_OPERATOR("slice", Slice)

}  // namespace ps
