// Cuts a random window out and resizes it.
#include "ops/arguments/random_crop.h"
#include "ops/geometry/resize/operator.h"

namespace ps {

class RandomResizedCrop : public ResampleOperator {
 public:
  explicit RandomResizedCrop(const Spec& s)
      : ResampleOperator(s), crop_(random_crop_params(s)), size_(s.arg<int64_t>("size")) {}

 protected:
  void find(const Context& c, const SpaceAxes& space, ResampleRegion* regions) const override {
    if (space.count != 2) fail(ErrorKind::layout, "expected pictures or videos, got volumes");
    int64_t size[2];
    size_.list(c, 2, size);
    Philox random = c.random();
    const Window w = random_crop([&] { return random.next(); }, regions[1].in, regions[0].in, crop_);
    regions[0] = {regions[0].in, size[0], double(w.y0), double(w.y1)};
    regions[1] = {regions[1].in, size[1], double(w.x0), double(w.x1)};
  }

 private:
  RandomCropParams crop_;
  Arg<int64_t> size_;
};

PS_OPERATOR("random_resized_crop", RandomResizedCrop)

}  // namespace ps
