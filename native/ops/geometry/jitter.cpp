// Pictures whose pixels change places with their neighbours' at random.
#include "device/geometry/jitter.h"

#include "ops/geometry/displace/operator.h"

namespace ps {

class Jitter : public DisplaceOperator<device::JitterMap> {
 public:
  explicit Jitter(const Spec& s)
      : DisplaceOperator(s, PS_DEVICE_TYPE(JitterMap), "device/geometry/jitter.h"),
        reach_(int32_t(s.integer("nDegree") / 2)) {}

 protected:
  device::JitterMap map(const Context& c) const override {
    return {c.random().sequence(), int32_t(c.in(0).shape[1]), reach_};
  }

 private:
  int32_t reach_;
};

PS_OPERATOR("jitter", Jitter)

}  // namespace ps
