// The median of the pixels around each.
#pragma once

#include "device/base/divisor.h"
#include "device/tensor/elements.h"

namespace ps::device {

// Numbers as unsigned ones of the same order.
PS_FN uint32_t order_key(uint8_t v) { return v; }
PS_FN uint32_t order_key(uint16_t v) { return v; }
PS_FN uint32_t order_key(int16_t v) { return uint32_t(int32_t(v) + 0x8000); }
PS_FN uint32_t order_key(int32_t v) { return uint32_t(v) ^ 0x80000000u; }
PS_FN uint32_t order_key(float v) {
#if defined(__CUDACC_RTC__)
  const uint32_t bits = __float_as_uint(v);
#else
  uint32_t bits;
  std::memcpy(&bits, &v, sizeof bits);
#endif
  return bits & 0x80000000u ? ~bits : bits | 0x80000000u;
}

// One zero for both: which of them is in the middle depends on how a window was sorted.
template <class T> PS_FN T median_of(T found) { return T(found + T(0)); }

// Bit by bit from the top: whether more than half of the window is below the number that has the bit.
template <class T> struct MedianBlur {
  const T* in;
  T* out;
  const int32_t* windows;              // height and width, of each frame
  int32_t height, width;
  Divisor channels, columns, rows, frame;            // of planes; elements of a frame

  PS_FN void element(int64_t i) const {
    const auto pixel = channels.quotient(uint64_t(i)), line = columns.quotient(pixel), plane = rows.quotient(line);
    const auto step = int64_t(channels.number());
    const auto x = int(pixel - line * columns.number()), y = int(line - plane * rows.number());
    const T* from = in + int64_t(plane) * height * width * step + (i - int64_t(pixel) * step);
    const int32_t* window = windows + 2 * int64_t(frame.quotient(uint64_t(i)));
    const int half = window[0] * window[1] / 2;
    uint32_t key = 0;
    T found = T(0);
    PS_LOOP
    for (int bit = int(sizeof(T)) * 8 - 1; bit >= -1; bit--) {
      const uint32_t tried = bit < 0 ? key : key | 1u << bit;
      int below = 0;
      PS_LOOP
      for (int dy = -(window[0] / 2); dy <= window[0] / 2; dy++) {
        const T* row = from + int64_t(clamp(y + dy, 0, height - 1)) * width * step;
        PS_LOOP
        for (int dx = -(window[1] / 2); dx <= window[1] / 2; dx++) {
          const T v = row[int64_t(clamp(x + dx, 0, width - 1)) * step];
          const uint32_t own = order_key(v);
          below += own < tried;
          if (bit < 0 && own == key) found = v;
        }
      }
      if (bit >= 0 && below <= half) key = tried;
    }
    out[i] = median_of(found);
  }
};

}  // namespace ps::device
