// Points mirrored along some of their axes.
#pragma once

#include "device/tensor/elements.h"

namespace ps::device {

struct CoordFlip {
  const float* in;
  float* out;
  int32_t coordinates;                 // of a point
  int32_t flip[3];
  float twice[3];                      // the centers, times 2

  PS_FN void element(int64_t i) const { out[i] = flipped(int(i % coordinates), in[i]); }
  PS_FN float flipped(int k, float v) const { return flip[k] ? twice[k] - v : v; }
};

}  // namespace ps::device
