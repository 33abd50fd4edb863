// The largest or the smallest of the pixels around each.
#pragma once

#include "device/base/border.h"
#include "device/base/divisor.h"
#include "device/tensor/elements.h"

namespace ps::device {

// One axis, element by element; a mask of each frame.
struct MorphologyFields {
  const void* in;
  void* out;
  const int32_t* masks;                // anchor and size, of each frame
  int32_t border;
  Divisor inner, length, frame;        // elements from one place on the axis to the next; places; elements of a frame
};

template <class T, bool kLargest> struct Morphology : MorphologyFields {
  PS_FN void element(int64_t i) const {
    const T* p = static_cast<const T*>(in) + i;
    const auto step = int64_t(inner.number()), n = int64_t(length.number());
    const auto row = inner.quotient(uint64_t(i));
    const auto at = int64_t(row - length.quotient(row) * length.number());
    const int32_t* mask = masks + 2 * int64_t(frame.quotient(uint64_t(i)));
    T best = *p;                       // the mask covers the pixel itself
    PS_LOOP
    for (int k = 0; k < mask[1]; k++) {
      const int64_t from = border_place(border, at + k - mask[0], n);
      if (from < 0) continue;
      const T v = p[(from - at) * step];
      if (kLargest ? best < v : v < best) best = v;
    }
    static_cast<T*>(out)[i] = best;
  }
};

}  // namespace ps::device
