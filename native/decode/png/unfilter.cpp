#include "decode/png/unfilter.h"

#include <cstring>

#include "core/simd.h"

namespace ps::png {
namespace {

enum Filter : uint8_t { kNone, kSub, kUp, kAverage, kPaeth };

// The bytes of one pixel, and whatever follows them.
template <int N> __m128i load(const uint8_t* p) {
  if constexpr (N > 4) return _mm_loadl_epi64(reinterpret_cast<const __m128i*>(p));
  uint32_t v;
  std::memcpy(&v, p, 4);
  return _mm_cvtsi32_si128(int(v));
}

template <int N> void store(uint8_t* p, __m128i v) {
  if constexpr (N > 4) {
    _mm_storel_epi64(reinterpret_cast<__m128i*>(p), v);
  } else {
    const int32_t bytes = _mm_cvtsi128_si32(v);
    std::memcpy(p, &bytes, 4);
  }
}

template <int N> void sub(const uint8_t* row, uint8_t* to, size_t bytes) {
  __m128i left = _mm_setzero_si128();
  for (size_t i = 0; i < bytes; i += N) {
    left = _mm_add_epi8(left, load<N>(row + i));
    store<N>(to + i, left);
  }
}

void up(const uint8_t* row, const uint8_t* above, uint8_t* to, size_t bytes) {
  const auto load16 = [](const uint8_t* p) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(p)); };
  for (size_t i = 0; i < bytes; i += 16)
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to + i), _mm_add_epi8(load16(row + i), load16(above + i)));
}

template <int N> void average(const uint8_t* row, const uint8_t* above, uint8_t* to, size_t bytes) {
  const __m128i one = _mm_set1_epi8(1);
  __m128i left = _mm_setzero_si128();
  for (size_t i = 0; i < bytes; i += N) {
    const __m128i b = load<N>(above + i);
    // The instruction rounds up, the filter down.
    const __m128i up = _mm_and_si128(_mm_xor_si128(left, b), one);
    left = _mm_add_epi8(load<N>(row + i), _mm_sub_epi8(_mm_avg_epu8(left, b), up));
    store<N>(to + i, left);
  }
}

// Of left (a), above (b) and above left (c) that which is nearest to a + b - c; in case of a tie the first of these.
// In words of 16 bits, whose upper halves stay 0.
template <int N> void paeth(const uint8_t* row, const uint8_t* above, uint8_t* to, size_t bytes) {
  __m128i a = _mm_setzero_si128(), c = a;
  for (size_t i = 0; i < bytes; i += N) {
    const __m128i b = _mm_cvtepu8_epi16(load<N>(above + i)), x = _mm_cvtepu8_epi16(load<N>(row + i));
    const __m128i from_a = _mm_abs_epi16(_mm_sub_epi16(b, c));
    const __m128i from_b = _mm_abs_epi16(_mm_sub_epi16(a, c));
    const __m128i from_c = _mm_abs_epi16(_mm_add_epi16(a, _mm_sub_epi16(b, _mm_add_epi16(c, c))));
    const __m128i nearer = _mm_blendv_epi8(a, b, _mm_cmpgt_epi16(from_a, from_b));
    const __m128i best = _mm_cmpgt_epi16(_mm_min_epi16(from_a, from_b), from_c);
    a = _mm_add_epi8(x, _mm_blendv_epi8(nearer, c, best));
    c = b;
    store<N>(to + i, _mm_packus_epi16(a, a));
  }
}

template <int N> bool undo(uint8_t filter, const uint8_t* row, const uint8_t* above, uint8_t* to, size_t bytes) {
  switch (filter) {
    case kNone: std::memcpy(to, row, bytes); return true;
    case kSub: sub<N>(row, to, bytes); return true;
    case kUp: up(row, above, to, bytes); return true;
    case kAverage: average<N>(row, above, to, bytes); return true;
    case kPaeth: paeth<N>(row, above, to, bytes); return true;
    default: return false;
  }
}

}  // namespace

bool unfilter(uint8_t filter, const uint8_t* row, const uint8_t* above, uint8_t* to, size_t bytes, int pixel_bytes) {
  switch (pixel_bytes) {
    case 1: return undo<1>(filter, row, above, to, bytes);
    case 2: return undo<2>(filter, row, above, to, bytes);
    case 3: return undo<3>(filter, row, above, to, bytes);
    case 4: return undo<4>(filter, row, above, to, bytes);
    case 6: return undo<6>(filter, row, above, to, bytes);
    default: return undo<8>(filter, row, above, to, bytes);
  }
}

}  // namespace ps::png
