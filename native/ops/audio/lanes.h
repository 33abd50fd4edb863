// Several floats side by side, one of each of as many windows or columns: what device/audio/fft.h computes with here.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/simd.h"

namespace ps::audio {

#if defined(__AVX512F__)
inline constexpr int kLanes = 16;
struct Lanes {
  __m512 v;
  Lanes() = default;
  Lanes(__m512 x) : v(x) {}
  explicit Lanes(float x) : v(_mm512_set1_ps(x)) {}
  static Lanes load(const float* p) { return _mm512_loadu_ps(p); }
  void store(float* p) const { _mm512_storeu_ps(p, v); }
  friend Lanes operator+(Lanes a, Lanes b) { return _mm512_add_ps(a.v, b.v); }
  friend Lanes operator-(Lanes a, Lanes b) { return _mm512_sub_ps(a.v, b.v); }
  friend Lanes operator*(Lanes a, Lanes b) { return _mm512_mul_ps(a.v, b.v); }
};
inline Lanes square_root(Lanes a) { return _mm512_maskz_sqrt_ps(__mmask16(0xffff), a.v); }
#elif defined(__AVX2__)
inline constexpr int kLanes = 8;
struct Lanes {
  __m256 v;
  Lanes() = default;
  Lanes(__m256 x) : v(x) {}
  explicit Lanes(float x) : v(_mm256_set1_ps(x)) {}
  static Lanes load(const float* p) { return _mm256_loadu_ps(p); }
  void store(float* p) const { _mm256_storeu_ps(p, v); }
  friend Lanes operator+(Lanes a, Lanes b) { return _mm256_add_ps(a.v, b.v); }
  friend Lanes operator-(Lanes a, Lanes b) { return _mm256_sub_ps(a.v, b.v); }
  friend Lanes operator*(Lanes a, Lanes b) { return _mm256_mul_ps(a.v, b.v); }
};
inline Lanes square_root(Lanes a) { return _mm256_sqrt_ps(a.v); }
#else
inline constexpr int kLanes = 4;
struct Lanes {
  __m128 v;
  Lanes() = default;
  Lanes(__m128 x) : v(x) {}
  explicit Lanes(float x) : v(_mm_set1_ps(x)) {}
  static Lanes load(const float* p) { return _mm_loadu_ps(p); }
  void store(float* p) const { _mm_storeu_ps(p, v); }
  friend Lanes operator+(Lanes a, Lanes b) { return _mm_add_ps(a.v, b.v); }
  friend Lanes operator-(Lanes a, Lanes b) { return _mm_sub_ps(a.v, b.v); }
  friend Lanes operator*(Lanes a, Lanes b) { return _mm_mul_ps(a.v, b.v); }
};
inline Lanes square_root(Lanes a) { return _mm_sqrt_ps(a.v); }
#endif

// Four rows of four floats as four columns.
inline void turn_4(const float* const* from, int64_t at, __m128* to) {
  for (int i = 0; i < 4; i++) to[i] = _mm_loadu_ps(from[i] + at);
  _MM_TRANSPOSE4_PS(to[0], to[1], to[2], to[3]);
}

// rows[lane][i] goes to columns[i * kLanes + lane], for i < n.
inline void to_lanes(const float* const* rows, int64_t n, float* columns) {
  int64_t i = 0;
  for (; i + 4 <= n; i += 4)
    for (int lane = 0; lane < kLanes; lane += 4) {
      __m128 v[4];
      turn_4(rows + lane, i, v);
      for (int k = 0; k < 4; k++) _mm_storeu_ps(columns + (i + k) * kLanes + lane, v[k]);
    }
  for (; i < n; i++)
    for (int lane = 0; lane < kLanes; lane++) columns[i * kLanes + lane] = rows[lane][i];
}
// The same, each number multiplied by weights[i].
inline void to_lanes(const float* const* rows, const float* weights, int64_t n, float* columns) {
  int64_t i = 0;
  for (; i + 4 <= n; i += 4)
    for (int lane = 0; lane < kLanes; lane += 4) {
      __m128 v[4];
      turn_4(rows + lane, i, v);
      for (int k = 0; k < 4; k++)
        _mm_storeu_ps(columns + (i + k) * kLanes + lane, _mm_mul_ps(v[k], _mm_set1_ps(weights[i + k])));
    }
  for (; i < n; i++)
    for (int lane = 0; lane < kLanes; lane++) columns[i * kLanes + lane] = rows[lane][i] * weights[i];
}
// And back, for the first `lanes` rows, which lie `step` apart.
inline void from_lanes(const float* columns, int64_t n, int lanes, float* rows, int64_t step) {
  const int whole = lanes / 4 * 4;
  int64_t i = 0;
  for (; i + 4 <= n; i += 4)
    for (int lane = 0; lane < whole; lane += 4) {
      __m128 v[4];
      for (int k = 0; k < 4; k++) v[k] = _mm_loadu_ps(columns + (i + k) * kLanes + lane);
      _MM_TRANSPOSE4_PS(v[0], v[1], v[2], v[3]);
      for (int k = 0; k < 4; k++) _mm_storeu_ps(rows + (lane + k) * step + i, v[k]);
    }
  for (int64_t j = i; j < n; j++)
    for (int lane = 0; lane < whole; lane++) rows[lane * step + j] = columns[j * kLanes + lane];
  for (int lane = whole; lane < lanes; lane++)
    for (int64_t j = 0; j < n; j++) rows[lane * step + j] = columns[j * kLanes + lane];
}

}  // namespace ps::audio
