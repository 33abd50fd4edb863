// Eight neighbouring elements of a row, as floats.
#pragma once

#include <cstdint>

#if defined(__AVX2__)
#include <immintrin.h>

namespace ps::detail {

inline __m256 eight(const float* p) { return _mm256_loadu_ps(p); }
inline __m256 eight(const uint8_t* p) {
  return _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p))));
}
inline __m256 eight(const uint16_t* p) {
  return _mm256_cvtepi32_ps(_mm256_cvtepu16_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p))));
}
inline __m256 eight(const int16_t* p) {
  return _mm256_cvtepi32_ps(_mm256_cvtepi16_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p))));
}

}  // namespace ps::detail
#endif
