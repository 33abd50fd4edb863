// Pictures as a sphere shows them.
#include "device/geometry/sphere.h"

#include "ops/geometry/displace/operator.h"

namespace ps {

class Sphere : public DisplaceOperator<device::SphereMap> {
 public:
  explicit Sphere(const Spec& s)
      : DisplaceOperator(s, PS_DEVICE_TYPE(SphereMap), "device/geometry/sphere.h") {}

 protected:
  device::SphereMap map(const Context& c) const override {
    const Shape& s = c.in(0).shape;
    return {float(s[1]) / 2, float(s[0]) / 2, float(std::max(s[0] / 2, s[1] / 2))};
  }
};

PS_OPERATOR("sphere", Sphere)

}  // namespace ps
