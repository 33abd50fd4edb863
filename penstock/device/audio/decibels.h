// Powers as decibels.
#pragma once

#include "device/base/bits.h"

namespace ps::device {

PS_FN float float_of(int32_t bits) {
#if defined(__CUDACC_RTC__)
  return __int_as_float(bits);
#else
  float v;
  std::memcpy(&v, &bits, sizeof v);
  return v;
#endif
}

// Of a positive number. It is split into a power of two and a number next to 1, whose logarithm is the series of the
// inverse hyperbolic tangent: what is left out is 2e-9 of it.
PS_FN float log_2(float x) {
  constexpr float kSmallest = 0x1p-126f, kLargest = 0x1.fffffep127f;
  const bool tiny = x < kSmallest;
  const float v = tiny ? x * 0x1p24f : x;
  constexpr int32_t kRootOfHalf = 0x3f3504f3;
  const auto bits = int32_t(bits_of(v)), exponent = (bits - kRootOfHalf) >> 23;
  const float m = float_of(bits - exponent * (1 << 23)), s = (m - 1.0f) / (m + 1.0f), z = s * s;
  const float rest = z * (1.0f / 3 + z * (1.0f / 5 + z * (1.0f / 7 + z * (1.0f / 9))));
  constexpr float kTwoOverLn2 = 2.885390081777926815f;
  const float found = float(tiny ? exponent - 24 : exponent) + kTwoOverLn2 * (s + s * rest);
  return x > kLargest ? x : found;
}

struct ToDecibels {
  const float* in;
  float* out;
  const float* largest;                // of the input, on the GPU; null: the reference is known
  float inverse, least, scale;         // of the reference; the smallest ratio; decibels for twice as much

  PS_FN static float inverse_of(float reference) { return 1.0f / (reference > 0 ? reference : 1.0f); }
  PS_FN float decibels(float v, float inverse_reference) const {
    const float ratio = v * inverse_reference;
    return scale * log_2(ratio > least ? ratio : least);
  }
  PS_FN void element(int64_t i) const {
    out[i] = decibels(in[i], largest ? inverse_of(*largest) : inverse);
  }
};

}  // namespace ps::device
