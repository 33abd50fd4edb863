// The two passes of separable resampling in float: any element type, any number of channels.
//
// Products and sums are separate operations in the order of the taps, so every instruction set gives the same bits.
#pragma once

#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "ops/geometry/resize/taps.h"
#include "rows/eight.h"

namespace ps {

namespace detail {

template <class T> constexpr float kLeast = std::is_same_v<T, float> ? 0 : float(std::numeric_limits<T>::min());
template <class T> constexpr float kMost = std::is_same_v<T, float> ? 0 : float(std::numeric_limits<T>::max());

// To the nearest integer, ties to even; what does not fit becomes the nearest that does, and not-a-number the least.
template <class T> inline T to_element(float v) {
  v = v > kLeast<T> ? v : kLeast<T>;
  v = v < kMost<T> ? v : kMost<T>;
  constexpr float kRound = 0x1.8p23f;   // where a float's last bit is one
  return T(int32_t((v + kRound) - kRound));
}

}  // namespace detail

template <class T> void from_floats(const float* from, T* to, int64_t length) {
  if constexpr (std::is_same_v<T, float>) std::memcpy(to, from, size_t(length) * sizeof(T));
  else for (int64_t i = 0; i < length; i++) to[i] = detail::to_element<T>(from[i]);
}

// out[i] = the sum over k < n of w[k] * rows[k][i]
template <class In, class Out>
void blend_rows(const In* const* rows, const float* w, int n, Out* out, int64_t length) {
  int64_t i = 0;
#if defined(__AVX2__)
  constexpr int kBlock = 32;   // four sums in registers
  for (; i + kBlock <= length; i += kBlock) {
    __m256 s0, s1, s2, s3;
    s0 = s1 = s2 = s3 = _mm256_setzero_ps();
    for (int k = 0; k < n; k++) {
      const In* row = rows[k] + i;
      const __m256 weight = _mm256_set1_ps(w[k]);
      s0 = _mm256_add_ps(s0, _mm256_mul_ps(weight, detail::eight(row)));
      s1 = _mm256_add_ps(s1, _mm256_mul_ps(weight, detail::eight(row + 8)));
      s2 = _mm256_add_ps(s2, _mm256_mul_ps(weight, detail::eight(row + 16)));
      s3 = _mm256_add_ps(s3, _mm256_mul_ps(weight, detail::eight(row + 24)));
    }
    alignas(32) float sum[kBlock];
    _mm256_store_ps(sum, s0), _mm256_store_ps(sum + 8, s1);
    _mm256_store_ps(sum + 16, s2), _mm256_store_ps(sum + 24, s3);
    from_floats(sum, out + i, kBlock);
  }
#endif
  for (; i < length; i++) {
    float sum = 0;
    for (int k = 0; k < n; k++) sum += w[k] * float(rows[k][i]);
    from_floats(&sum, out + i, 1);
  }
}

// Output pixels x0 <= x < x1 of one row; row points at input pixel 0 (which need not exist, if no tap reads it), and
// one more float behind it can be read.
template <int kChannels>
void blend_columns(const float* row, const Taps& taps, int channels, int64_t x0, int64_t x1, float* out) {
  const int C = kChannels ? kChannels : channels;
  for (int64_t x = x0; x < x1; x++, out += C) {
    const float* p = row + int64_t(taps.first[size_t(x)]) * C;
    const float* w = &taps.weight[size_t(x * taps.count)];
    const int n = taps.n[size_t(x)];
    if constexpr (kChannels == 3 || kChannels == 4) {
      // Four lanes; of three channels, the fourth is the next pixel's first, which comes next and overwrites it.
      typedef float Four __attribute__((vector_size(16)));
      const auto load = [](const float* from) { Four v; std::memcpy(&v, from, sizeof v); return v; };
      Four sum = w[0] * load(p);
      for (int k = 1; k < n; k++) sum += w[k] * load(p + k * C);
      if (kChannels == 4 || x + 1 < x1) std::memcpy(out, &sum, sizeof sum);
      else std::memcpy(out, &sum, size_t(C) * sizeof(float));
    } else {
      for (int c = 0; c < C; c++) {
        float sum = w[0] * p[c];
        for (int k = 1; k < n; k++) sum += w[k] * p[k * C + c];
        out[c] = sum;
      }
    }
  }
}

inline void blend_columns(const float* row, const Taps& taps, int channels, int64_t x0, int64_t x1, float* out) {
  switch (channels) {
    case 1: return blend_columns<1>(row, taps, 1, x0, x1, out);
    case 2: return blend_columns<2>(row, taps, 2, x0, x1, out);
    case 3: return blend_columns<3>(row, taps, 3, x0, x1, out);
    case 4: return blend_columns<4>(row, taps, 4, x0, x1, out);
    default: return blend_columns<0>(row, taps, channels, x0, x1, out);
  }
}

}  // namespace ps
