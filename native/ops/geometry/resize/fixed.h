// The two passes of separable resampling for uint8 pictures, in integers: for filters without negative weights.
//
// Weights have `bits` fractional bits and add up to exactly one, so flat areas stay flat. Between the passes a value v
// is the int16 (v - 128) * 256, rounded. The last step rounds ties to even through float, as the float passes do; less
// than one pixel in a thousand is 1 off from those. All else is exact, so every instruction set gives the same bits.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#if defined(__AVX2__)
#include <immintrin.h>
#endif

#include "ops/geometry/resize/taps.h"

namespace ps {

inline constexpr int kBetweenBits = 8;
inline constexpr int kColumnBits = 15;   // sums of columns are then of 31 bits

// Up to four rows are blended in 16-bit arithmetic, which leaves the weights 14 bits or 13.
inline constexpr int row_bits(int rows) { return rows <= 2 ? 14 : rows <= 4 ? 13 : 20; }

// Pairs of weights: output x has pairs * 2 of them, padded with zeros.
struct FixedTaps {
  int bits = 0, pairs = 0;
  std::vector<int16_t> weight;
  const int16_t* at(int64_t x) const { return &weight[size_t(x * pairs * 2)]; }

  void build(const Taps& taps, int most_bits) {
    pairs = (taps.count + 1) / 2;
    bits = most_bits;
    float largest = 0;
    for (float w : taps.weight) largest = std::max(largest, w);
    while (std::rint(std::ldexp(largest, bits)) + taps.count > 32767) bits--;
    weight.assign(size_t(taps.axis.out * pairs * 2), 0);
    const float one = std::ldexp(1.0f, bits);
    for (int64_t x = 0; x < taps.axis.out; x++) {
      const float* w = &taps.weight[size_t(x * taps.count)];
      int16_t* to = &weight[size_t(x * pairs * 2)];
      float sum = 0;   // rounding sums, not weights, makes the total exact and lets errors of neighbours cancel
      int before = 0;
      for (int k = 0; k < taps.n[size_t(x)]; k++) {
        sum += w[k];
        const int now = k + 1 == taps.n[size_t(x)] ? 1 << bits : std::min(1 << bits, int(std::lrint(sum * one)));
        to[k] = int16_t(now - before);
        before = now;
      }
    }
  }
};

namespace detail {

// Sums of columns, or of int16 rows, begin with `bias` to make up for the 128.
struct Final {
  int32_t bias;
  float scale;
  explicit Final(int bits) : bias(1 << (bits + kBetweenBits + 7)), scale(std::ldexp(1.0f, -(bits + kBetweenBits))) {}
  uint8_t operator()(int32_t sum) const { return uint8_t(int32_t(float(sum) * scale + kRound - kRound)); }
  static constexpr float kRound = 0x1.8p23f;   // where a float's last bit is one
};

// Sums of uint8 rows begin with the rounding, and with -128.
inline int32_t first_sum(int bits) { return (1 << (bits - kBetweenBits - 1)) - (1 << (bits + 7)); }

// Sums of the rows, in blocks that stay in registers.
template <class T, class Store>
inline void in_blocks(const T* const* rows, const int16_t* w, int n, int32_t start, int64_t length, Store store) {
  constexpr int kBlock = 16;
  for (int64_t at = 0; at < length; at += kBlock) {
    const int count = int(std::min<int64_t>(kBlock, length - at));
    int32_t sum[kBlock];
    std::fill_n(sum, kBlock, start);
    for (int k = 0; k < n; k++) {
      const T* row = rows[k] + at;
      if (count == kBlock) for (int j = 0; j < kBlock; j++) sum[j] += w[k] * row[j];
      else for (int j = 0; j < count; j++) sum[j] += w[k] * row[j];
    }
    if (count == kBlock) for (int j = 0; j < kBlock; j++) store(at + j, sum[j]);
    else for (int j = 0; j < count; j++) store(at + j, sum[j]);
  }
}

#if defined(__AVX2__)
inline __m256i load32(const void* p) { return _mm256_loadu_si256(static_cast<const __m256i*>(p)); }
inline __m256i load16x2(const void* a, const void* b) {
  return _mm256_inserti128_si256(_mm256_castsi128_si256(_mm_loadu_si128(static_cast<const __m128i*>(a))),
                                 _mm_loadu_si128(static_cast<const __m128i*>(b)), 1);
}
inline void store32(void* p, __m256i v) { _mm256_storeu_si256(static_cast<__m256i*>(p), v); }

// 32 pixels of two rows or four. A weight is high * 2^kLow + low, both of which multiply bytes without overflow: the
// highs of a pair add up to at most 128, and so do all lows. Sums of highs may wrap on their way.
template <int kPairs>
inline void blend_few(const uint8_t* const* rows, const __m256i* high, const __m256i* low, int16_t* out, int64_t i) {
  __m256i h0 = _mm256_set1_epi16(0x4000), h1 = h0, l0 = _mm256_setzero_si256(), l1 = l0;
  for (int p = 0; p < kPairs; p++) {
    const __m256i a = load32(rows[2 * p] + i), b = load32(rows[2 * p + 1] + i);
    const __m256i even = _mm256_unpacklo_epi8(a, b), odd = _mm256_unpackhi_epi8(a, b);
    h0 = _mm256_add_epi16(h0, _mm256_maddubs_epi16(even, high[p]));
    h1 = _mm256_add_epi16(h1, _mm256_maddubs_epi16(odd, high[p]));
    l0 = _mm256_add_epi16(l0, _mm256_maddubs_epi16(even, low[p]));
    l1 = _mm256_add_epi16(l1, _mm256_maddubs_epi16(odd, low[p]));
  }
  // 2 h + (l + half) >> (kLow - 1)
  const __m256i part = _mm256_set1_epi16(kPairs == 1 ? 512 : 1024);
  h0 = _mm256_add_epi16(_mm256_add_epi16(h0, h0), _mm256_mulhrs_epi16(l0, part));
  h1 = _mm256_add_epi16(_mm256_add_epi16(h1, h1), _mm256_mulhrs_epi16(l1, part));
  store32(out + i, _mm256_permute2x128_si256(h0, h1, 0x20));
  store32(out + i + 16, _mm256_permute2x128_si256(h0, h1, 0x31));
}

template <int kPairs>
void blend_few(const uint8_t* const* rows, const int16_t* w, int16_t* out, int64_t length) {
  constexpr int kLow = kPairs == 1 ? 7 : 6;
  __m256i high[kPairs], low[kPairs];
  for (int p = 0; p < kPairs; p++) {
    int h[2], l[2];
    for (int k = 0; k < 2; k++) {
      h[k] = std::min(127, (w[2 * p + k] + (1 << (kLow - 1)) - 1) >> kLow);
      l[k] = w[2 * p + k] - (h[k] << kLow);
    }
    high[p] = _mm256_set1_epi16(int16_t((h[1] << 8) | h[0]));
    low[p] = _mm256_set1_epi16(int16_t((l[1] << 8) | (l[0] & 255)));
  }
  for (int64_t i = 0; i + 32 <= length; i += 32) blend_few<kPairs>(rows, high, low, out, i);
  if (length % 32) blend_few<kPairs>(rows, high, low, out, length - 32);
}

inline void blend_many(const uint8_t* const* rows, const int16_t* w, int n, int bits, int16_t* out, int64_t length) {
  const __m256i zero = _mm256_setzero_si256(), start = _mm256_set1_epi32(first_sum(bits));
  const __m128i shift = _mm_cvtsi32_si128(bits - kBetweenBits);
  for (int64_t at = 0; at < length; at += 32) {
    const int64_t i = std::min(at, length - 32);
    __m256i s0 = start, s1 = start, s2 = start, s3 = start;
    for (int k = 0; k < n; k += 2) {
      int32_t both;
      std::memcpy(&both, w + k, 4);
      const __m256i pair = _mm256_set1_epi32(both);
      const __m256i a = load32(rows[k] + i), b = load32(rows[k + 1] + i);
      const __m256i even = _mm256_unpacklo_epi8(a, b), odd = _mm256_unpackhi_epi8(a, b);
      s0 = _mm256_add_epi32(s0, _mm256_madd_epi16(_mm256_unpacklo_epi8(even, zero), pair));
      s1 = _mm256_add_epi32(s1, _mm256_madd_epi16(_mm256_unpackhi_epi8(even, zero), pair));
      s2 = _mm256_add_epi32(s2, _mm256_madd_epi16(_mm256_unpacklo_epi8(odd, zero), pair));
      s3 = _mm256_add_epi32(s3, _mm256_madd_epi16(_mm256_unpackhi_epi8(odd, zero), pair));
    }
    const __m256i t0 = _mm256_packs_epi32(_mm256_sra_epi32(s0, shift), _mm256_sra_epi32(s1, shift));
    const __m256i t1 = _mm256_packs_epi32(_mm256_sra_epi32(s2, shift), _mm256_sra_epi32(s3, shift));
    store32(out + i, _mm256_permute2x128_si256(t0, t1, 0x20));
    store32(out + i + 16, _mm256_permute2x128_si256(t0, t1, 0x31));
  }
}

inline __m256i nearest(__m256i sum, __m256 scale) {
  return _mm256_cvtps_epi32(_mm256_mul_ps(_mm256_cvtepi32_ps(sum), scale));
}
#endif

}  // namespace detail

inline void widen(const uint8_t* in, int16_t* out, int64_t length) {
  for (int64_t i = 0; i < length; i++) out[i] = int16_t((in[i] - 128) * 256);
}

// uint8 rows to an int16 row. n is even (a weight of zero goes with any row), bits = row_bits(n).
inline void blend_rows(const uint8_t* const* rows, const int16_t* w, int n, int bits, int16_t* out, int64_t length) {
  for (int k = 0; k < n; k++) if (w[k] == 1 << bits) return widen(rows[k], out, length);   // too much for a byte
#if defined(__AVX2__)
  if (length >= 32) {
    if (n == 2) return detail::blend_few<1>(rows, w, out, length);
    if (n == 4) return detail::blend_few<2>(rows, w, out, length);
    return detail::blend_many(rows, w, n, bits, out, length);
  }
#endif
  detail::in_blocks(rows, w, n, detail::first_sum(bits), length, [&](int64_t i, int32_t sum) {
    out[i] = int16_t(sum >> (bits - kBetweenBits));
  });
}

// int16 rows to a uint8 row.
inline void blend_rows(const int16_t* const* rows, const int16_t* w, int n, int bits, uint8_t* out, int64_t length) {
  const detail::Final final(bits);
#if defined(__AVX2__)
  if (length >= 32) {
    const __m256 scales = _mm256_set1_ps(final.scale);
    for (int64_t at = 0; at < length; at += 32) {
      const int64_t i = std::min(at, length - 32);
      __m256i s0 = _mm256_set1_epi32(final.bias), s1 = s0, s2 = s0, s3 = s0;
      for (int k = 0; k < n; k += 2) {
        int32_t both;
        std::memcpy(&both, w + k, 4);
        const __m256i pair = _mm256_set1_epi32(both);
        const int16_t *p = rows[k] + i, *q = rows[k + 1] + i;
        const __m256i a = detail::load32(p), b = detail::load32(q);
        const __m256i c = detail::load32(p + 16), d = detail::load32(q + 16);
        s0 = _mm256_add_epi32(s0, _mm256_madd_epi16(_mm256_unpacklo_epi16(a, b), pair));
        s1 = _mm256_add_epi32(s1, _mm256_madd_epi16(_mm256_unpackhi_epi16(a, b), pair));
        s2 = _mm256_add_epi32(s2, _mm256_madd_epi16(_mm256_unpacklo_epi16(c, d), pair));
        s3 = _mm256_add_epi32(s3, _mm256_madd_epi16(_mm256_unpackhi_epi16(c, d), pair));
      }
      const __m256i t0 = _mm256_packs_epi32(detail::nearest(s0, scales), detail::nearest(s1, scales));
      const __m256i t1 = _mm256_packs_epi32(detail::nearest(s2, scales), detail::nearest(s3, scales));
      detail::store32(out + i, _mm256_permute4x64_epi64(_mm256_packus_epi16(t0, t1), 0xD8));
    }
    return;
  }
#endif
  detail::in_blocks(rows, w, n, final.bias, length, [&](int64_t i, int32_t sum) { out[i] = final(sum); });
}

}  // namespace ps
