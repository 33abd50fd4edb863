// The inverse DCT: the accurate integer method of the JPEG group's library ("islow"), bit for bit.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "decode/jpeg/zigzag.h"

namespace ps::jpeg {

// Blocks are transformed in groups of this many, which lie side by side in the picture.
#if defined(__AVX512BW__)
inline constexpr int kGroup = 4;
#elif defined(__AVX2__)
inline constexpr int kGroup = 2;
#else
inline constexpr int kGroup = 1;
#endif

// A group's coefficients: row 0 of each of its blocks, then row 1 of each, ...
inline constexpr int kGroupCoefficients = 64 * kGroup;

// kPlace[k]: where the k-th coefficient in the file's order belongs, from the block's first one (8 * n for block n).
inline constexpr std::array<uint16_t, 64> kPlace = [] {
  std::array<uint16_t, 64> place{};
  for (size_t k = 0; k < 64; k++) place[k] = uint16_t(kZigzag[k] / 8 * (8 * kGroup) + kZigzag[k] % 8);
  return place;
}();

// Dequantises and transforms one group into 8 rows of 8 * kGroup samples. `last` is the highest index (in the file's
// order) of a coefficient that may differ from zero. Sums of 16 bits wrap and saturate as in libjpeg-turbo's SIMD code.
// One thing may differ: samples of blocks without vertical detail whose coefficients exceed 8191 once dequantised. No
// picture gives such coefficients (its own reach about 1024); corrupt data may.
void idct(const int16_t* coefficients, const uint16_t* quant, int last, uint8_t* out, ptrdiff_t stride);

}  // namespace ps::jpeg
