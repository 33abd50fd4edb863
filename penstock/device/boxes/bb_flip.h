// Boxes of pictures that are flipped.
#pragma once

#include "device/tensor/elements.h"

namespace ps::device {

// Four numbers a box, as shares of the picture's width and height: left, top, and either right and bottom or width and
// height.
struct BbFlip {
  const float* in;
  float* out;
  int32_t horizontal, vertical, corners;

  PS_FN void element(int64_t i) const {
    const float* from = in + 4 * i;
    float* to = out + 4 * i;
    axis(horizontal, from[0], from[2], to[0], to[2]);
    axis(vertical, from[1], from[3], to[1], to[3]);
  }

 private:
  PS_FN void axis(bool flip, float first, float second, float& to_first, float& to_second) const {
    const float flipped = corners ? 1 - second : 1 - first - second;
    to_first = flip ? flipped : first;
    to_second = flip && corners ? 1 - first : second;
  }
};

}  // namespace ps::device
