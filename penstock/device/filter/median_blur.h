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

template <class T> PS_FN T from_order_key(uint32_t key) { return T(key); }
template <> PS_FN int16_t from_order_key(uint32_t key) { return int16_t(int32_t(key) - 0x8000); }
template <> PS_FN int32_t from_order_key(uint32_t key) { return int32_t(key ^ 0x80000000u); }
template <> PS_FN float from_order_key(uint32_t key) {
  const uint32_t bits = key & 0x80000000u ? key ^ 0x80000000u : ~key;
#if defined(__CUDACC_RTC__)
  return __uint_as_float(bits);
#else
  float v;
  std::memcpy(&v, &bits, sizeof v);
  return v;
#endif
}

// How often each of 16 digits is there, up to 255 times.
struct DigitCounts {
  uint64_t low = 0, high = 0;          // a byte of each digit
  PS_FN void add(uint32_t digit) {
    const uint64_t one = uint64_t(1) << (digit & 7) * 8;
    if (digit & 8) high += one;
    else low += one;
  }
  PS_FN int of(uint32_t digit) const { return int((digit & 8 ? high : low) >> (digit & 7) * 8 & 255); }
};

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
    const auto visit = [&](auto&& f) {
      PS_LOOP
      for (int dy = -(window[0] / 2); dy <= window[0] / 2; dy++) {
        const T* row = from + int64_t(clamp(y + dy, 0, height - 1)) * width * step;
        PS_LOOP
        for (int dx = -(window[1] / 2); dx <= window[1] / 2; dx++)
          f(order_key(row[int64_t(clamp(x + dx, 0, width - 1)) * step]));
      }
    };
    const int count = window[0] * window[1];
    out[i] = median_of(from_order_key<T>(count < 256 ? by_digits(visit, count / 2) : by_bits(visit, count / 2)));
  }

 private:
  static constexpr int kBits = int(sizeof(T)) * 8;

  // Four bits at a time from the top: which ones the number has that so many of the window are below.
  template <class Visit> PS_FN static uint32_t by_digits(const Visit& visit, int below) {
    uint32_t key = 0;
    PS_LOOP
    for (int shift = kBits - 4; shift >= 0; shift -= 4) {
      DigitCounts counts;
      visit([&](uint32_t own) {
        if ((own ^ key) >> shift < 16) counts.add(own >> shift & 15);
      });
      uint32_t digit = 0;
      PS_LOOP
      for (; counts.of(digit) <= below; digit++) below -= counts.of(digit);
      key |= digit << shift;
    }
    return key;
  }

  // Bit by bit: whether more than half of the window is below the number that has the bit.
  template <class Visit> PS_FN static uint32_t by_bits(const Visit& visit, int half) {
    uint32_t key = 0;
    PS_LOOP
    for (int bit = kBits - 1; bit >= 0; bit--) {
      const uint32_t tried = key | 1u << bit;
      int below = 0;
      visit([&](uint32_t own) { below += own < tried; });
      if (below <= half) key = tried;
    }
    return key;
  }
};

}  // namespace ps::device
