// Resizes, cuts a window out of the result and mirrors it, in one go: only what the window shows is computed.
#include "ops/arguments/crop_window.h"
#include "ops/geometry/resize/operator.h"

namespace ps {

class ResizeCropMirror : public ResampleOperator {
 public:
  explicit ResizeCropMirror(const Spec& s) : ResampleOperator(s), size_(s), crop_(s), mirror_(s.arg<int>("mirror")) {}

 protected:
  void find(const Context& c, const SpaceAxes& space, ResampleRegion* regions) const override {
    size_.find(c, space.count, regions);
    Shape resized = c.in(0).shape;
    for (int i = 0; i < space.count; i++) resized[space.first + i] = regions[i].out;
    const Region window = crop_.region(c, resized, space.layout);
    const int mirror = mirror_.get(c);
    for (int i = 0; i < space.count; i++) {
      ResampleRegion& r = regions[i];
      if (r.out == 0) continue;
      const int64_t start = window.anchor[space.first + i], extent = window.shape[space.first + i];
      const double lo = r.lo, scale = (r.hi - r.lo) / double(r.out);
      if (extent != r.out || start != 0) {
        r.lo = lo + double(start) * scale;
        r.hi = lo + double(start + extent) * scale;
        r.out = extent;
      }
      if (mirror >> (space.count - 1 - i) & 1) std::swap(r.lo, r.hi);   // bit 0: width, 1: height, 2: depth
    }
  }

 private:
  ResampleSize size_;
  CropWindow crop_;
  Arg<int> mirror_;
};

PS_OPERATOR("resize_crop_mirror", ResizeCropMirror)

}  // namespace ps
