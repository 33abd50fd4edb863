#include "decode/png/checksum.h"

#include <algorithm>
#include <cstring>

#include <zlib.h>

#include "core/simd.h"

namespace ps::png {
namespace {

#if defined(__x86_64__)

// x^n modulo CRC-32's polynomial, bits from x^31 to x^0 in the order of a file, and as carry-less products of such
// numbers need it, one bit to the left.
constexpr uint64_t power(int n) {
  uint32_t v = 0x80000000u;                           // x^0
  for (int i = 0; i < n; i++) v = v >> 1 ^ (v & 1 ? 0xEDB88320u : 0);
  return uint64_t(v) << 1;
}

// Carry-less products fold what was read so far onto bytes that come later: 64 bytes at a time, at last 16, of which
// zlib takes the remainder. No instruction-set level has the instruction, but nearly every processor.
__attribute__((target("pclmul,sse4.1"))) inline __m128i folded(__m128i v, __m128i onto, __m128i by) {
  const __m128i low = _mm_clmulepi64_si128(v, by, 0x00), high = _mm_clmulepi64_si128(v, by, 0x11);
  return _mm_xor_si128(_mm_xor_si128(low, high), onto);
}

__attribute__((target("pclmul,sse4.1"))) uint32_t crc32_folding(uint32_t crc, const uint8_t* data, size_t size) {
  const auto load = [&](size_t i) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(data) + i); };
  constexpr uint64_t k64[] = {power(4 * 128 + 32), power(4 * 128 - 32)}, k16[] = {power(128 + 32), power(128 - 32)};
  const __m128i by_64 = _mm_set_epi64x(int64_t(k64[1]), int64_t(k64[0]));
  const __m128i by_16 = _mm_set_epi64x(int64_t(k16[1]), int64_t(k16[0]));
  __m128i a = _mm_xor_si128(load(0), _mm_cvtsi32_si128(int(~crc))), b = load(1), c = load(2), d = load(3);
  for (data += 64, size -= 64; size >= 64; data += 64, size -= 64) {
    a = folded(a, load(0), by_64);
    b = folded(b, load(1), by_64);
    c = folded(c, load(2), by_64);
    d = folded(d, load(3), by_64);
  }
  a = folded(folded(folded(a, b, by_16), c, by_16), d, by_16);
  for (; size >= 16; data += 16, size -= 16) a = folded(a, load(0), by_16);
  uint8_t rest[16];
  _mm_storeu_si128(reinterpret_cast<__m128i*>(rest), a);
  crc = uint32_t(::crc32(0xFFFFFFFFu, rest, 16));     // zlib inverts what it is given, and its result
  return uint32_t(::crc32(crc, data, uInt(size)));
}

bool folds() {
  static const bool yes = __builtin_cpu_supports("pclmul");
  return yes;
}

#endif

constexpr uint32_t kBase = 65521;

}  // namespace

uint32_t crc32(uint32_t crc, const uint8_t* data, size_t size) {
#if defined(__x86_64__)
  if (size >= 64 && folds()) return crc32_folding(crc, data, size);
#endif
  return uint32_t(::crc32_z(crc, data, size));
}

uint32_t adler32(uint32_t adler, const uint8_t* data, size_t size) {
  uint32_t a = adler & 0xFFFF, b = adler >> 16;
  const __m128i zero = _mm_setzero_si128(), ones = _mm_set1_epi16(1);
  const __m128i weights = _mm_set_epi8(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16);
  while (size >= 16) {
    // As many as 32-bit sums hold: of 16 bytes each, `sums` before them counts 16 times for b.
    const size_t steps = std::min<size_t>(size / 16, 256);
    __m128i sums = zero, before = zero, weighed = zero;
    for (size_t i = 0; i < steps; i++) {
      const __m128i v = _mm_loadu_si128(reinterpret_cast<const __m128i*>(data) + i);
      before = _mm_add_epi32(before, sums);
      sums = _mm_add_epi32(sums, _mm_sad_epu8(v, zero));
      weighed = _mm_add_epi32(weighed, _mm_madd_epi16(_mm_maddubs_epi16(v, weights), ones));
    }
    const auto sum_of = [](__m128i v) {
      v = _mm_add_epi32(v, _mm_shuffle_epi32(v, 0x4E));
      return uint32_t(_mm_cvtsi128_si32(_mm_add_epi32(v, _mm_shuffle_epi32(v, 0xB1))));
    };
    b = uint32_t((b + uint64_t(a) * 16 * steps + uint64_t(sum_of(before)) * 16 + sum_of(weighed)) % kBase);
    a = (a + sum_of(sums)) % kBase;
    data += steps * 16, size -= steps * 16;
  }
  for (; size > 0; size--) b += a += *data++;          // fewer than 16: they are far from overflowing
  return b % kBase << 16 | a % kBase;
}

}  // namespace ps::png
