// Rows of pixels from one colour space to another, on the CPU.
#pragma once

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "core/convert.h"
#include "device/base/color_spaces.h"
#include "rows/lanes.h"

namespace ps {

using ColorSpaceRow = void (*)(const uint8_t* from, uint8_t* to, size_t pixels);

namespace detail {

using device::Space;

template <Space kFrom, Space kTo> void plain_pixels(const uint8_t* from, uint8_t* to, size_t n) {
  constexpr int kIn = device::channels_of(kFrom), kOut = device::channels_of(kTo);
  for (size_t i = 0; i < n; i++) {
    float in[3], out[3];
    for (int k = 0; k < kIn; k++) in[k] = from[i * kIn + size_t(k)];
    device::convert_color<kFrom, kTo>(in, out, [](float v) { return v; });
    for (int k = 0; k < kOut; k++) to[i * kOut + size_t(k)] = convert<uint8_t>(out[k]);
  }
}

// For three planes of 16 bytes: where each byte of their pixels comes from, 16 by 16.
struct Interleaving {
  alignas(16) uint8_t from[3][3][16];                // part of the pixels, plane; 0x80: from another plane
  constexpr Interleaving() : from() {
    for (int part = 0; part < 3; part++)
      for (int plane = 0; plane < 3; plane++)
        for (int i = 0; i < 16; i++)
          from[part][plane][i] = (part * 16 + i) % 3 == plane ? uint8_t((part * 16 + i) / 3) : 0x80;
  }
};
inline constexpr Interleaving kInterleaving;

inline __m128i load_16(const uint8_t* p) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(p)); }

inline void interleave_16(__m128i a, __m128i b, __m128i c, uint8_t* to) {
  for (int part = 0; part < 3; part++) {
    const auto& from = kInterleaving.from[part];
    const __m128i ab = _mm_or_si128(_mm_shuffle_epi8(a, load_16(from[0])), _mm_shuffle_epi8(b, load_16(from[1])));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to + 16 * part),
                     _mm_or_si128(ab, _mm_shuffle_epi8(c, load_16(from[2]))));
  }
}

// 16 pixels; of three channels, some bytes behind them are read too.
inline constexpr size_t kColorBlock = 16, kColorsRead = 24;
template <Space kFrom, Space kTo> void sixteen_pixels(const uint8_t* from, uint8_t* to) {
  constexpr int kIn = device::channels_of(kFrom), kOut = device::channels_of(kTo);
  using namespace lanes;
  alignas(16) uint8_t planes[3][kColorBlock];
  uint8_t* out[3];
  for (int k = 0; k < 3; k++) out[k] = kOut == 1 ? to : planes[k];
  const auto set = [](float v) { return repeat(v); };
  for (size_t i = 0; i < kColorBlock; i += kLanes) {
    Floats in[3], sums[3];
    if constexpr (kIn == 3) {
      const Bytes pixels = load<false>(from + 3 * i);
      for (int k = 0; k < 3; k++) in[k] = floats(pixels, repeat(spread(k, false)));
    } else {
      uint8_t some[16] = {};
      std::memcpy(some, from + i, kLanes);
      in[0] = widen(_mm_loadu_si128(reinterpret_cast<const __m128i*>(some)));
    }
    device::convert_color<kFrom, kTo>(in, sums, set);
    for (int k = 0; k < kOut; k++) store(out[k] + i, sums[k]);
  }
  if constexpr (kOut == 3) interleave_16(load_16(planes[0]), load_16(planes[1]), load_16(planes[2]), to);
}

// Channels the other way round: five pixels make a step, whose 16th byte the next step overwrites.
inline size_t swap_pixels(const uint8_t* from, uint8_t* to, size_t n) {
  const __m128i order = _mm_setr_epi8(2, 1, 0, 5, 4, 3, 8, 7, 6, 11, 10, 9, 14, 13, 12, 15);
  size_t i = 0;
  for (; i + 6 <= n; i += 5) {
    const __m128i v = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + 3 * i));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to + 3 * i), _mm_shuffle_epi8(v, order));
  }
  return i;
}

inline size_t spread_gray(const uint8_t* from, uint8_t* to, size_t n) {
  size_t i = 0;
  for (; i + 16 <= n; i += 16) interleave_16(load_16(from + i), load_16(from + i), load_16(from + i), to + 3 * i);
  return i;
}

// Luma in whole numbers, which gives the same: pairs of a pixel's first two channels, and of the third and 1, times
// their weights.
template <Space kFrom> size_t luma_of_pixels(const uint8_t* from, uint8_t* to, size_t n) {
  const bool back = kFrom == Space::bgr;
  const auto weight = [&](int k) { return int(device::kLuma[back ? 2 - k : k]); };
  const __m128i pairs = _mm_setr_epi8(0, -1, 1, -1, 3, -1, 4, -1, 6, -1, 7, -1, 9, -1, 10, -1);
  const __m128i thirds = _mm_setr_epi8(2, -1, -1, -1, 5, -1, -1, -1, 8, -1, -1, -1, 11, -1, -1, -1);
  const __m128i pair_weights = _mm_set1_epi32(weight(1) << 16 | weight(0));
  const __m128i third_weights = _mm_set1_epi32(16384 << 16 | weight(2)), ones = _mm_set1_epi32(1 << 16);
  const auto four = [&](const uint8_t* p) {
    const __m128i v = load_16(p);
    const __m128i sum = _mm_madd_epi16(_mm_shuffle_epi8(v, pairs), pair_weights);
    const __m128i rest = _mm_madd_epi16(_mm_or_si128(_mm_shuffle_epi8(v, thirds), ones), third_weights);
    return _mm_srli_epi32(_mm_add_epi32(sum, rest), 15);
  };
  size_t i = 0;
  for (; i + kColorsRead <= n; i += 16) {
    const uint8_t* p = from + 3 * i;
    const __m128i a = _mm_packs_epi32(four(p), four(p + 12)), b = _mm_packs_epi32(four(p + 24), four(p + 36));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to + i), _mm_packus_epi16(a, b));
  }
  return i;
}

template <Space kFrom, Space kTo> size_t many_pixels(const uint8_t* from, uint8_t* to, size_t n) {
  constexpr bool kColors = kFrom == Space::rgb || kFrom == Space::bgr;
  constexpr bool kToColors = kTo == Space::rgb || kTo == Space::bgr;
  if constexpr (kColors && kToColors) return swap_pixels(from, to, n);
  if constexpr (kFrom == Space::gray && kToColors) return spread_gray(from, to, n);
  if constexpr (kColors && kTo == Space::gray) return luma_of_pixels<kFrom>(from, to, n);
  constexpr int kIn = device::channels_of(kFrom), kOut = device::channels_of(kTo);
  size_t i = 0;
  for (; i + kColorsRead <= n; i += kColorBlock) sixteen_pixels<kFrom, kTo>(from + i * kIn, to + i * kOut);
  return i;
}

template <Space kFrom, Space kTo> void color_row(const uint8_t* from, uint8_t* to, size_t n) {
  constexpr int kIn = device::channels_of(kFrom), kOut = device::channels_of(kTo);
  if constexpr (kFrom == kTo) {
    if (n) std::memcpy(to, from, n * kIn);
  } else {
    const size_t done = many_pixels<kFrom, kTo>(from, to, n);
    plain_pixels<kFrom, kTo>(from + done * kIn, to + done * kOut, n - done);
  }
}

}  // namespace detail

inline ColorSpaceRow color_space_row(device::Space from, device::Space to) {
  using device::Space;
  const auto visit = [](Space s, auto f) {
    switch (s) {
      case Space::rgb: return f(std::integral_constant<Space, Space::rgb>{});
      case Space::bgr: return f(std::integral_constant<Space, Space::bgr>{});
      case Space::gray: return f(std::integral_constant<Space, Space::gray>{});
      default: return f(std::integral_constant<Space, Space::ycbcr>{});
    }
  };
  return visit(from, [&](auto a) {
    return visit(to, [](auto b) -> ColorSpaceRow { return detail::color_row<decltype(a)::value, decltype(b)::value>; });
  });
}

}  // namespace ps
