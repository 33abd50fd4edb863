// A stage (device/picture/picture.h): crops and flips. Each pixel is one of the input, in another type perhaps.
#pragma once

#include "device/base/truncate.h"
#include "device/picture/picture.h"

namespace ps::device {

template <class To> struct WindowStage {
  int32_t x, y;                        // which pixel of the input is the first one
  int32_t step_x, step_y;              // 1 or -1

  PS_FN Rect region(const Rect& r) const { return window_region(r, x, y, step_x, step_y); }
  template <class Up> PS_FN auto at(const Up& up, int ox, int oy, int c) const {
    const auto from = up.at(x + ox * step_x, y + oy * step_y, c);
    Vec<To, Up::kChannels> pixel;
    PS_UNROLL
    for (int i = 0; i < Up::kChannels; i++) pixel[i] = truncate<To>(from[i]);
    return pixel;
  }
};

}  // namespace ps::device
