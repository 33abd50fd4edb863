// Where pixels are, as tensors say it.
#pragma once

#include "device/geometry/sample.h"

namespace ps::device {

struct RemapMap {
  const float *xs, *ys;
  int64_t x_step, y_step;              // from one frame to the next
  int32_t width;
  float origin;                        // where pixel (0, 0) is
  PS_FN Position<2> position(int64_t frame, int x, int y) const {
    const int64_t at = int64_t(y) * width + x;
    return {{xs[frame * x_step + at] - origin, ys[frame * y_step + at] - origin}};
  }
};

}  // namespace ps::device
