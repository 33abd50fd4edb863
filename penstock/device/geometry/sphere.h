// Pictures as a sphere shows them.
#pragma once

#include "device/geometry/displace.h"

namespace ps::device {

struct SphereMap {
  float middle_x, middle_y, radius;
  PS_FN Position<2> position(int x, int y) const {
    const float dx = float(x) + 0.5f - middle_x, dy = float(y) + 0.5f - middle_y;
#if defined(__CUDACC_RTC__)
    const float times = __fdiv_rn(__fsqrt_rn(dx * dx + dy * dy), radius);
#else
    const float times = std::sqrt(dx * dx + dy * dy) / radius;
#endif
    return {{middle_x + times * dx, middle_y + times * dy}};
  }
};

}  // namespace ps::device
