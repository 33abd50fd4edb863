// Pictures under waves.
#pragma once

#include "device/geometry/displace.h"

namespace ps::device {

PS_FN float sine(float v) {
#if defined(__CUDACC_RTC__)
  return ::sinf(v);
#else
  return std::sin(v);
#endif
}
PS_FN float cosine(float v) {
#if defined(__CUDACC_RTC__)
  return ::cosf(v);
#else
  return std::cos(v);
#endif
}

struct Wave {
  float height, frequency, phase;
};

// Rows go to the right, and columns down.
struct WaterMap {
  Wave rows, columns;
  PS_FN float right(int y) const { return rows.height * sine(rows.frequency * float(y) + rows.phase); }
  PS_FN float down(int x) const { return columns.height * cosine(columns.frequency * float(x) + columns.phase); }
  PS_FN Position<2> position(int x, int y) const { return {{float(x) + right(y), float(y) + down(x)}}; }
};

}  // namespace ps::device
