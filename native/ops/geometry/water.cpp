// Pictures under waves.
#include "device/geometry/water.h"

#include "ops/geometry/displace/operator.h"

namespace ps {

class Water : public DisplaceOperator<device::WaterMap> {
 public:
  explicit Water(const Spec& s)
      : DisplaceOperator(s, PS_DEVICE_TYPE(WaterMap), "device/geometry/water.h"), map_{wave(s, "x"), wave(s, "y")} {}

 protected:
  device::WaterMap map(const Context&) const override { return map_; }

  // How far each column goes down.
  void prepare(const device::WaterMap& map, const Shape& shape, std::vector<float>& down) const override {
    down.resize(size_t(shape[1]));
    for (size_t x = 0; x < down.size(); x++) down[x] = map.down(int(x));
  }
  void positions(const device::WaterMap& map, const std::vector<float>& down, int64_t y, int64_t x, size_t n,
                 float* x_to, float* y_to) const override {
    const float right = map.right(int(y)), *from = down.data() + x;
    for (size_t i = 0; i < n; i++) {
      x_to[i] = float(int(x) + int(i)) + right;
      y_to[i] = float(y) + from[i];
    }
  }

 private:
  static device::Wave wave(const Spec& s, const std::string& axis) {
    return {float(s.number("ampl_" + axis)), float(s.number("freq_" + axis)), float(s.number("phase_" + axis))};
  }

  device::WaterMap map_;
};

PS_OPERATOR("water", Water)

}  // namespace ps
