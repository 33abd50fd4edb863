// Rows of bytes, the usual pictures, through linear functions: what compilers do not vectorise well by themselves.
#pragma once

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "rows/lanes.h"

namespace ps::lanes {

// Which types the functions here are for.
template <class In, class Out>
inline constexpr bool kFast = std::is_same_v<In, uint8_t> &&
                              (std::is_same_v<Out, uint8_t> || std::is_same_v<Out, half> || std::is_same_v<Out, float>);

// Each of n bytes v becomes v * multiplier + addend.
template <class Out> void affine_bytes(const uint8_t* from, size_t n, float multiplier, float addend, Out* to) {
  const Floats by = repeat(multiplier), add = repeat(addend);
  const auto do_16 = [&](const uint8_t* bytes, Out* out) {
    __m128i v = _mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes));
    for (int k = 0; k < 16; k += kLanes) {
      store(out + k, widen(v) * by + add);
      v = _mm_srli_si128(v, kLanes % 16);
    }
  };
  size_t i = 0;
  for (; i + 16 <= n; i += 16) do_16(from + i, to + i);
  if (i == n) return;
  uint8_t rest[16] = {};
  Out out[16];
  std::memcpy(rest, from + i, n - i);
  do_16(rest, out);
  std::memcpy(to + i, out, (n - i) * sizeof(Out));
}

// Floats as bytes, as convert() in core/convert.h.
inline void bytes_from_floats(const float* from, size_t n, uint8_t* to) {
  size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) store(to + i, load(from + i));
  if (i == n) return;
  float rest[kLanes] = {};
  uint8_t out[kLanes];
  std::memcpy(rest, from + i, (n - i) * sizeof(float));
  store(out, load(rest));
  std::memcpy(to + i, out, n - i);
}

// Each of n pixels of three bytes becomes three sums: out[k] = m[k][0] * r + m[k][1] * g + m[k][2] * b + add.
template <class Out> void mix_bytes(const uint8_t* from, size_t n, const float (&m)[3][3], float add, Out* to) {
  constexpr size_t kBlock = 128, kRead = 24;         // kRead: of pixels, more than one load() reads
  Bytes spreads[3];
  for (int c = 0; c < 3; c++) spreads[c] = repeat(spread(c, false));
  const auto do_block = [&](const uint8_t* bytes, size_t count, Out* out) {
    Out planes[3][kBlock];
    for (size_t i = 0; i < count; i += kLanes) {
      const Bytes pixels = load<false>(bytes + 3 * i);
      const Floats r = floats(pixels, spreads[0]), g = floats(pixels, spreads[1]), b = floats(pixels, spreads[2]);
      for (int k = 0; k < 3; k++)
        store(planes[k] + i, repeat(m[k][0]) * r + repeat(m[k][1]) * g + repeat(m[k][2]) * b + repeat(add));
    }
    for (size_t i = 0; i < count; i++)
      for (size_t k = 0; k < 3; k++) out[3 * i + k] = planes[k][i];
  };
  size_t done = 0;
  while (n - done >= kRead) {
    const size_t count = std::min((n - done - kRead) / kLanes * kLanes + kLanes, kBlock);
    do_block(from + 3 * done, count, to + 3 * done);
    done += count;
  }
  if (done == n) return;
  uint8_t rest[3 * 2 * kRead] = {};                  // less than kRead pixels, and what is read behind them
  std::memcpy(rest, from + 3 * done, 3 * (n - done));
  do_block(rest, n - done, to + 3 * done);
}

}  // namespace ps::lanes
