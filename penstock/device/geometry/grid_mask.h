// Squares of a grid made black.
#pragma once

#include "device/base/divisor.h"
#include "device/picture/picture.h"
#include "device/tensor/elements.h"

namespace ps::device {

struct GridMaskFields {
  float cosine, sine, shift_x, shift_y;              // in tiles
  float ratio;

  static PS_FN float part(float v) { return v - floorf(v); }
  PS_FN bool shows(int x, int y) const {
    const float across = float(x) * cosine + (float(y) * -sine - shift_x);
    const float down = float(x) * sine + (float(y) * cosine - shift_y);
    return part(across) >= ratio || part(down) >= ratio;
  }
};

template <class T> struct GridMask : GridMaskFields {
  template <class Up> PS_FN auto at(const Up& up, int x, int y, int c) const {
    if (shows(x, y)) return up.at(x, y, c);
    Vec<T, Up::kChannels> black;
    PS_UNROLL
    for (int k = 0; k < Up::kChannels; k++) black[k] = T(0);
    return black;
  }
};

// One by itself, whatever other axes there are.
template <class T> struct GridMaskElements {
  const T* in;
  T* out;
  Divisor width, height, inner;        // elements of a place
  GridMaskFields mask;
  PS_FN void element(int64_t i) const {
    const uint64_t place = inner.quotient(uint64_t(i)), row = width.quotient(place);
    const uint64_t y = row - height.quotient(row) * height.number();
    out[i] = mask.shows(int(place - row * width.number()), int(y)) ? in[i] : T(0);
  }
};

}  // namespace ps::device
