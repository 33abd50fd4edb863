// Bytes through a table of 256 bytes, many at a time.
#pragma once

#include <cstddef>
#include <cstdint>

#if defined(__AVX2__)
#include <immintrin.h>
#endif

namespace ps {

#if defined(__AVX2__)
// The table is 16 shuffles of 16 entries. Of an index that is not in the k-th part, the exclusive or with 16 k is 16 or
// more, which the saturated sum makes 128 or more: a shuffle gives 0 for that. Returns how many bytes are done.
inline size_t look_up_bytes(const uint8_t* table, const uint8_t* from, uint8_t* to, size_t n) {
  __m256i parts[16];
  for (int k = 0; k < 16; k++)
    parts[k] = _mm256_broadcastsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(table + 16 * k)));
  const __m256i outside = _mm256_set1_epi8(0x70);
  size_t i = 0;
  for (; i + 64 <= n; i += 64) {
    const auto* in = reinterpret_cast<const __m256i*>(from + i);
    const __m256i a = _mm256_loadu_si256(in), b = _mm256_loadu_si256(in + 1);
    __m256i found_a = _mm256_setzero_si256(), found_b = found_a;
    for (int k = 0; k < 16; k++) {
      const __m256i part = _mm256_set1_epi8(char(16 * k));
      const __m256i index_a = _mm256_adds_epu8(_mm256_xor_si256(a, part), outside);
      const __m256i index_b = _mm256_adds_epu8(_mm256_xor_si256(b, part), outside);
      found_a = _mm256_or_si256(found_a, _mm256_shuffle_epi8(parts[k], index_a));
      found_b = _mm256_or_si256(found_b, _mm256_shuffle_epi8(parts[k], index_b));
    }
    auto* out = reinterpret_cast<__m256i*>(to + i);
    _mm256_storeu_si256(out, found_a), _mm256_storeu_si256(out + 1, found_b);
  }
  return i;
}
#else
inline size_t look_up_bytes(const uint8_t*, const uint8_t*, uint8_t*, size_t) { return 0; }
#endif

}  // namespace ps
