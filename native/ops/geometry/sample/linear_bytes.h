// Pictures of bytes read between their pixels, on the CPU: what device::sample computes, all channels of a pixel at a
// time. Of a row it is found out beforehand which pixels have all of their neighbours.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

#include "core/simd.h"
#include "device/geometry/sample.h"
#include "ops/geometry/sample/row.h"

namespace ps {

// Of `C` channels, at most four; no more than kSampleColumns pixels at a time.
template <int C> class LinearBytes {
 public:
  explicit LinearBytes(const device::SampleFields& f) : f_(f), row_(f.width * C) {}
  // Places are counted in 32 bits, and in floats.
  static bool fits(const device::SampleFields& f) {
    return f.width < 1 << 24 && f.height < 1 << 24 && int64_t(f.width) * f.height * C < INT32_MAX;
  }

  void run(const uint8_t* plane, const device::Position<2>* positions, int64_t n, const float* fills, uint8_t* out) {
    find(positions, n);
    for (int64_t i = 0; i < n; i++, out += C) {
      if (offset_[i] < 0) {
        device::sample<uint8_t, 2>(f_, plane, positions[i], fills, C, out);
        continue;
      }
      const int32_t pixel = between(plane + offset_[i], right_[i], down_[i]);
      if (C == 4 || i + 1 < n) std::memcpy(out, &pixel, C == 1 ? 1 : 4);       // the next pixel overwrites the rest
      else std::memcpy(out, &pixel, C);
    }
  }

 private:
  // Where a pixel's neighbours are, or -1 where one is missing, or the eight bytes from the lower ones on.
  void find(const device::Position<2>* __restrict positions, int64_t n) {
    const auto last_x = float(f_.width - 1), last_y = float(f_.height - 1);
    const int32_t row = row_, last = f_.height * row - row - 8;
    int32_t* __restrict offset = offset_;
    float *__restrict right = right_, *__restrict down = down_;
    for (int64_t i = 0; i < n; i++) {
      const float x = positions[i].v[0], y = positions[i].v[1], left = std::floor(x), top = std::floor(y);
      const bool inside = (left >= 0) & (top >= 0) & (left < last_x) & (top < last_y);
      const int32_t at = int32_t(inside ? top : 0) * row + int32_t(inside ? left : 0) * C;
      offset[i] = inside & (at <= last) ? at : -1;
      right[i] = x - left;
      down[i] = y - top;
    }
  }

  int32_t between(const uint8_t* at, float right, float down) const {
#if defined(__AVX2__)
    const __m128i bytes = _mm_unpacklo_epi64(eight(at), eight(at + row_));       // the upper ones, then the lower ones
    constexpr long long first = 0x0b0a090803020100, next = first + 0x0101010101010101 * C;
    const __m256 a = floats(_mm_shuffle_epi8(bytes, _mm_set1_epi64x(first)));
    const __m256 b = floats(_mm_shuffle_epi8(bytes, _mm_set1_epi64x(next)));
    const __m256 both = _mm256_add_ps(a, _mm256_mul_ps(_mm256_set1_ps(right), _mm256_sub_ps(b, a)));
    const __m128 upper = _mm256_castps256_ps128(both), lower = _mm256_extractf128_ps(both, 1);
#else
    const __m128 part = _mm_set1_ps(right);
    const __m128 upper = beside(at, part), lower = beside(at + row_, part);
#endif
    const __m128 sum = _mm_add_ps(upper, _mm_mul_ps(_mm_set1_ps(down), _mm_sub_ps(lower, upper)));
    const __m128i whole = _mm_cvtps_epi32(sum);      // halves to the even number
    const __m128i words = _mm_packus_epi32(whole, whole);
    return _mm_cvtsi128_si32(_mm_packus_epi16(words, words));
  }
  static __m128i eight(const uint8_t* at) { return _mm_loadl_epi64(reinterpret_cast<const __m128i*>(at)); }
#if defined(__AVX2__)
  static __m256 floats(__m128i bytes) { return _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(bytes)); }
#else
  static __m128 beside(const uint8_t* at, __m128 part) {
    const __m128i bytes = eight(at);
    const __m128 a = _mm_cvtepi32_ps(_mm_cvtepu8_epi32(bytes));
    const __m128 b = _mm_cvtepi32_ps(_mm_cvtepu8_epi32(_mm_srli_si128(bytes, C)));
    return _mm_add_ps(a, _mm_mul_ps(part, _mm_sub_ps(b, a)));
  }
#endif

  device::SampleFields f_;
  int32_t row_;
  int32_t offset_[kSampleColumns];
  float right_[kSampleColumns], down_[kSampleColumns];
};

}  // namespace ps
