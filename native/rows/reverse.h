// A row of pixels from right to left.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "core/simd.h"

namespace ps {

namespace detail {

// As many whole pixels as 16 bytes hold, reversed by one shuffle. Neither end of a row is overrun: what is loaded ends
// with the pixels wanted, and the rest of what is stored is written again by the next step.
template <int kBytes> int64_t reverse_blocks(const uint8_t* row, uint8_t* to, int64_t n) {
  constexpr int kPixels = 16 / kBytes, kUsed = kPixels * kBytes;
  alignas(16) uint8_t order[16] = {};
  for (int i = 0; i < kUsed; i++)
    order[i] = uint8_t(16 - kUsed + (kPixels - 1 - i / kBytes) * kBytes + i % kBytes);
  const __m128i shuffle = _mm_load_si128(reinterpret_cast<const __m128i*>(order));
  int64_t done = 0;
  for (; n - done >= 2 * kPixels; done += kPixels) {
    const __m128i v = _mm_loadu_si128(reinterpret_cast<const __m128i*>(row + (n - done) * kBytes - 16));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to + done * kBytes), _mm_shuffle_epi8(v, shuffle));
  }
  return done;
}

template <int kBytes> void reverse(const uint8_t* row, uint8_t* to, int64_t n) {
  int64_t i = 0;
  if constexpr (kBytes <= 8) i = reverse_blocks<kBytes>(row, to, n);
  for (; i < n; i++) std::memcpy(to + i * kBytes, row + (n - 1 - i) * kBytes, kBytes);
}

}  // namespace detail

// n pixels of that many bytes; the two rows may not overlap.
inline void reverse_row(const void* row, void* to, int64_t n, size_t pixel_bytes) {
  const auto* from = static_cast<const uint8_t*>(row);
  auto* out = static_cast<uint8_t*>(to);
  switch (pixel_bytes) {
    case 1: return detail::reverse<1>(from, out, n);
    case 2: return detail::reverse<2>(from, out, n);
    case 3: return detail::reverse<3>(from, out, n);
    case 4: return detail::reverse<4>(from, out, n);
    case 6: return detail::reverse<6>(from, out, n);
    case 8: return detail::reverse<8>(from, out, n);
    case 12: return detail::reverse<12>(from, out, n);
    case 16: return detail::reverse<16>(from, out, n);
    default:
      for (int64_t i = 0; i < n; i++)
        std::memcpy(out + size_t(i) * pixel_bytes, from + size_t(n - 1 - i) * pixel_bytes, pixel_bytes);
  }
}

}  // namespace ps
