// A window of pictures, volumes or sequences.
#include "ops/arguments/crop_window.h"
#include "ops/arguments/picture_layout.h"
#include "ops/geometry/cut.h"

namespace ps {

class Crop : public Cut {
 public:
  explicit Crop(const Spec& s) : Cut(s), window_(s) {}

 protected:
  Layout layout(const Tensor& input) const override { return picture_layout(input, true); }
  Region region(const Context& c, const Shape& input, const Layout& layout) const override {
    return window_.region(c, input, layout);
  }

 private:
  CropWindow window_;
};

PS_OPERATOR("crop", Crop)

}  // namespace ps
