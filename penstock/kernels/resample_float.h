// The two passes of separable resampling in float: any element type, any number of channels.
//
// Products and sums are separate operations in the order of the taps, so every instruction set gives the same bits.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "kernels/resample.h"

namespace ps {

template <class T> inline T to_element(float v) {
  if constexpr (std::is_same_v<T, float>) {
    return v;
  } else {   // to the nearest, ties to even; what does not fit becomes the nearest that does, NaN the least
    constexpr float least = float(std::numeric_limits<T>::min()), most = float(std::numeric_limits<T>::max());
    v = v > least ? v : least;
    v = v < most ? v : most;
    return T(int32_t(std::nearbyint(v)));
  }
}

// out[i] = the sum over k < n of w[k] * rows[k][i]
template <class In, class Out>
void blend_rows(const In* const* rows, const float* w, int n, Out* out, int64_t length) {
  constexpr int kBlock = 32;
  int64_t i = 0;
  for (; i + kBlock <= length; i += kBlock) {
    float sum[kBlock];
    for (int j = 0; j < kBlock; j++) sum[j] = w[0] * float(rows[0][i + j]);
    for (int k = 1; k < n; k++) {
      const In* row = rows[k] + i;
      for (int j = 0; j < kBlock; j++) sum[j] += w[k] * float(row[j]);
    }
    for (int j = 0; j < kBlock; j++) out[i + j] = to_element<Out>(sum[j]);
  }
  for (; i < length; i++) {
    float sum = w[0] * float(rows[0][i]);
    for (int k = 1; k < n; k++) sum += w[k] * float(rows[k][i]);
    out[i] = to_element<Out>(sum);
  }
}

// Output pixels x0 <= x < x1 of one row; row points at input pixel 0 (which need not exist, if no tap reads it).
template <int kChannels, class Out>
void blend_columns(const float* row, const Taps& taps, int channels, int64_t x0, int64_t x1, Out* out) {
  const int C = kChannels ? kChannels : channels;
  for (int64_t x = x0; x < x1; x++, out += C) {
    const float* p = row + int64_t(taps.first[size_t(x)]) * C;
    const float* w = &taps.weight[size_t(x * taps.count)];
    const int n = taps.n[size_t(x)];
    if constexpr (kChannels == 3 || kChannels == 4) {   // four lanes; the fourth may be the next pixel's, and is dropped
      typedef float Four __attribute__((vector_size(16), aligned(4)));
      Four sum = w[0] * *reinterpret_cast<const Four*>(p);
      for (int k = 1; k < n; k++) sum += w[k] * *reinterpret_cast<const Four*>(p + k * C);
      for (int c = 0; c < C; c++) out[c] = to_element<Out>(sum[c]);
    } else {
      for (int c = 0; c < C; c++) {
        float sum = w[0] * p[c];
        for (int k = 1; k < n; k++) sum += w[k] * p[k * C + c];
        out[c] = to_element<Out>(sum);
      }
    }
  }
}

template <class Out>
void blend_columns(const float* row, const Taps& taps, int channels, int64_t x0, int64_t x1, Out* out) {
  switch (channels) {
    case 1: return blend_columns<1>(row, taps, 1, x0, x1, out);
    case 2: return blend_columns<2>(row, taps, 2, x0, x1, out);
    case 3: return blend_columns<3>(row, taps, 3, x0, x1, out);
    case 4: return blend_columns<4>(row, taps, 4, x0, x1, out);
    default: return blend_columns<0>(row, taps, channels, x0, x1, out);
  }
}

}  // namespace ps
