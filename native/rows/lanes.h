// Rows of three interleaved bytes per pixel: the hot path of training on photographs. For planes, a byte shuffle
// spreads one channel of a few pixels over 32-bit lanes; another shuffle does it from right to left at no cost.
#pragma once

#include <cstdint>

#include "core/half.h"
#include "core/simd.h"

namespace ps::lanes {

// Four pixels of 12 bytes in each 128 bits; byte 3 * pixel + channel goes to lane `pixel`, zeroes beside it.
inline __m128i spread(int channel, bool mirror) {
  alignas(16) uint8_t from[16];
  for (int i = 0; i < 16; i++) from[i] = uint8_t(i % 4 ? 0x80 : 3 * (mirror ? 3 - i / 4 : i / 4) + channel);
  return _mm_load_si128(reinterpret_cast<const __m128i*>(from));
}

#if defined(__AVX512BW__)

inline constexpr int kLanes = 16;
using Floats = __m512;
using Bytes = __m512i;
inline constexpr __mmask16 kAll = 0xffff;   // GCC 12 warns of its own plain forms: they begin with an undefined value

template <bool kMirror> Bytes load(const uint8_t* p) {          // 64 bytes, of which it needs 48
  const __m512i dwords = kMirror ? _mm512_setr_epi32(9, 10, 11, 12, 6, 7, 8, 9, 3, 4, 5, 6, 0, 1, 2, 3)
                                 : _mm512_setr_epi32(0, 1, 2, 3, 3, 4, 5, 6, 6, 7, 8, 9, 9, 10, 11, 12);
  return _mm512_maskz_permutexvar_epi32(kAll, dwords, _mm512_loadu_si512(p));
}
inline Bytes repeat(__m128i v) { return _mm512_maskz_broadcast_i32x4(kAll, v); }
inline Floats floats(Bytes v, Bytes spread) {
  return _mm512_maskz_cvtepi32_ps(kAll, _mm512_maskz_shuffle_epi8(~__mmask64(0), v, spread));
}
inline Floats widen(__m128i v) { return _mm512_maskz_cvtepi32_ps(kAll, _mm512_maskz_cvtepu8_epi32(kAll, v)); }
inline Floats load(const float* p) { return _mm512_loadu_ps(p); }
inline Floats repeat(float v) { return _mm512_set1_ps(v); }
inline Floats affine(Floats x, Floats mean, Floats scale, Floats shift) {
  return _mm512_fmadd_ps(_mm512_sub_ps(x, mean), scale, shift);
}
inline void store(float* to, Floats v) { _mm512_storeu_ps(to, v); }
inline void store(half* to, Floats v) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), _mm512_maskz_cvtps_ph(kAll, v, _MM_FROUND_TO_NEAREST_INT));
}
// As convert() in core/convert.h.
inline __m512i rounded(Floats v, float low, float high) {
  v = _mm512_maskz_mov_ps(_mm512_cmp_ps_mask(v, v, _CMP_ORD_Q), v);
  const Floats half_ulp_less = _mm512_set1_ps(0x1.fffffep-2f), sign = _mm512_set1_ps(-0.0f);
  v = _mm512_add_ps(v, _mm512_or_ps(half_ulp_less, _mm512_and_ps(v, sign)));
  v = _mm512_maskz_min_ps(kAll, _mm512_maskz_max_ps(kAll, v, repeat(low)), repeat(high));
  return _mm512_maskz_cvttps_epi32(kAll, v);
}
inline void store(uint8_t* to, Floats v) {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm512_maskz_cvtepi32_epi8(kAll, rounded(v, 0, 255)));
}
inline void store(int8_t* to, Floats v) {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm512_maskz_cvtepi32_epi8(kAll, rounded(v, -128, 127)));
}

#elif defined(__AVX2__)

inline constexpr int kLanes = 8;
using Floats = __m256;
using Bytes = __m256i;

template <bool kMirror> Bytes load(const uint8_t* p) {          // 28 bytes, of which it needs 24
  const __m128i left = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
  const __m128i right = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p + 12));
  return kMirror ? _mm256_set_m128i(left, right) : _mm256_set_m128i(right, left);
}
inline Bytes repeat(__m128i v) { return _mm256_broadcastsi128_si256(v); }
inline Floats floats(Bytes v, Bytes spread) { return _mm256_cvtepi32_ps(_mm256_shuffle_epi8(v, spread)); }
inline Floats widen(__m128i v) { return _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(v)); }
inline Floats load(const float* p) { return _mm256_loadu_ps(p); }
inline Floats repeat(float v) { return _mm256_set1_ps(v); }
inline Floats affine(Floats x, Floats mean, Floats scale, Floats shift) {
  return _mm256_fmadd_ps(_mm256_sub_ps(x, mean), scale, shift);
}
inline void store(float* to, Floats v) { _mm256_storeu_ps(to, v); }
inline void store(half* to, Floats v) {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm256_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT));
}
inline __m128i rounded(Floats v, float low, float high) {       // eight 16-bit integers
  v = _mm256_and_ps(v, _mm256_cmp_ps(v, v, _CMP_ORD_Q));
  v = _mm256_add_ps(v, _mm256_or_ps(_mm256_set1_ps(0x1.fffffep-2f), _mm256_and_ps(v, _mm256_set1_ps(-0.0f))));
  const __m256i i = _mm256_cvttps_epi32(_mm256_min_ps(_mm256_max_ps(v, repeat(low)), repeat(high)));
  return _mm_packs_epi32(_mm256_castsi256_si128(i), _mm256_extracti128_si256(i, 1));
}
inline void store(uint8_t* to, Floats v) {
  const __m128i i = rounded(v, 0, 255);
  _mm_storel_epi64(reinterpret_cast<__m128i*>(to), _mm_packus_epi16(i, i));
}
inline void store(int8_t* to, Floats v) {
  const __m128i i = rounded(v, -128, 127);
  _mm_storel_epi64(reinterpret_cast<__m128i*>(to), _mm_packs_epi16(i, i));
}

#else

inline constexpr int kLanes = 4;
using Floats = __m128;
using Bytes = __m128i;

template <bool kMirror> Bytes load(const uint8_t* p) {          // 16 bytes, of which it needs 12
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
}
inline Bytes repeat(__m128i v) { return v; }
inline Floats floats(Bytes v, Bytes spread) { return _mm_cvtepi32_ps(_mm_shuffle_epi8(v, spread)); }
inline Floats widen(__m128i v) { return _mm_cvtepi32_ps(_mm_cvtepu8_epi32(v)); }
inline Floats load(const float* p) { return _mm_loadu_ps(p); }
inline Floats repeat(float v) { return _mm_set1_ps(v); }
inline Floats affine(Floats x, Floats mean, Floats scale, Floats shift) {
  return _mm_add_ps(_mm_mul_ps(_mm_sub_ps(x, mean), scale), shift);
}
inline void store(float* to, Floats v) { _mm_storeu_ps(to, v); }
// Without the processor's help: numbers in the range of normal halves are rounded to even by an addition below the bits
// that stay, smaller ones by adding 0.5, whose last bit is the smallest half.
inline void store(half* to, Floats v) {
  const __m128i bits = _mm_castps_si128(v), sign = _mm_and_si128(bits, _mm_set1_epi32(int(0x80000000u)));
  const __m128i size = _mm_xor_si128(bits, sign);
  const __m128i odd = _mm_and_si128(_mm_srli_epi32(size, 13), _mm_set1_epi32(1));
  const __m128i normal = _mm_srli_epi32(_mm_add_epi32(_mm_add_epi32(size, _mm_set1_epi32(int(0xc8000fffu))), odd), 13);
  const __m128 tiny = _mm_add_ps(_mm_castsi128_ps(size), _mm_set1_ps(0.5f));
  const __m128i subnormal = _mm_sub_epi32(_mm_castps_si128(tiny), _mm_set1_epi32(0x3f000000));
  __m128i h = _mm_blendv_epi8(normal, subnormal, _mm_cmplt_epi32(size, _mm_set1_epi32(0x38800000)));
  h = _mm_blendv_epi8(h, _mm_set1_epi32(0x7c00), _mm_cmpgt_epi32(size, _mm_set1_epi32(0x477fefff)));   // >= 65520
  h = _mm_blendv_epi8(h, _mm_set1_epi32(0x7e00), _mm_cmpgt_epi32(size, _mm_set1_epi32(0x7f800000)));
  h = _mm_or_si128(h, _mm_srli_epi32(sign, 16));
  _mm_storel_epi64(reinterpret_cast<__m128i*>(to), _mm_packus_epi32(h, h));
}
inline __m128i rounded(Floats v, float low, float high) {       // four 16-bit integers, twice
  v = _mm_and_ps(v, _mm_cmpord_ps(v, v));
  v = _mm_add_ps(v, _mm_or_ps(_mm_set1_ps(0x1.fffffep-2f), _mm_and_ps(v, _mm_set1_ps(-0.0f))));
  const __m128i i = _mm_cvttps_epi32(_mm_min_ps(_mm_max_ps(v, repeat(low)), repeat(high)));
  return _mm_packs_epi32(i, i);
}
inline void store(uint8_t* to, Floats v) {
  const __m128i i = rounded(v, 0, 255);
  _mm_storeu_si32(to, _mm_packus_epi16(i, i));
}
inline void store(int8_t* to, Floats v) {
  const __m128i i = rounded(v, -128, 127);
  _mm_storeu_si32(to, _mm_packs_epi16(i, i));
}

#endif

// n >= kLanes pixels, each (v - mean) * scale + shift, to three planes `plane` elements apart. The last block overlaps
// the one before it, so nothing is written past the row.
template <class Out, bool kMirror>
void planes_of_3(const uint8_t* row, int64_t n, const float* mean, const float* scale, const float* shift, Out* to,
                 int64_t plane) {
  Bytes spreads[3];
  Floats means[3], scales[3], shifts[3];
  for (int c = 0; c < 3; c++) {
    spreads[c] = repeat(spread(c, kMirror));
    means[c] = repeat(mean[c]), scales[c] = repeat(scale[c]), shifts[c] = repeat(shift[c]);
  }
  const auto block = [&](int64_t i) {
    const Bytes pixels = load<kMirror>(row + 3 * (kMirror ? n - kLanes - i : i));
    for (int c = 0; c < 3; c++)
      store(to + c * plane + i, affine(floats(pixels, spreads[c]), means[c], scales[c], shifts[c]));
  };
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) block(i);
  if (i < n) block(n - kLanes);
}

// 16 bytes, each as its own affine; `to` gets 16 elements.
template <class Out>
void store_16(__m128i v, const Floats* means, const Floats* scales, const Floats* shifts, Out* to) {
  for (int i = 0; i < 16 / kLanes; i++) {
    store(to + i * kLanes, affine(widen(v), means[i], scales[i], shifts[i]));
    v = _mm_srli_si128(v, kLanes % 16);
  }
}

// Pixels from right to left, still interleaved; `mean` and the others are for one element after the other, 16 at least.
// Five pixels make a step, whose 16th element the next step overwrites. Returns how many pixels are done: a few are
// left, since nothing may be written past the row.
template <class Out>
int64_t reversed_of_3(const uint8_t* row, int64_t n, const float* mean, const float* scale, const float* shift,
                      Out* to) {
  const __m128i order = _mm_setr_epi8(13, 14, 15, 10, 11, 12, 7, 8, 9, 4, 5, 6, 1, 2, 3, 0);
  Floats means[16 / kLanes], scales[16 / kLanes], shifts[16 / kLanes];
  for (int i = 0; i < 16 / kLanes; i++)
    means[i] = load(mean + i * kLanes), scales[i] = load(scale + i * kLanes), shifts[i] = load(shift + i * kLanes);
  int64_t done = 0;
  for (; n - done >= 10; done += 5) {
    const __m128i v = _mm_loadu_si128(reinterpret_cast<const __m128i*>(row + 3 * (n - done) - 16));
    store_16(_mm_shuffle_epi8(v, order), means, scales, shifts, to + 3 * done);
  }
  return done;
}

}  // namespace ps::lanes
