#include "decode/jpeg/color.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "core/simd.h"

namespace ps::jpeg {
namespace {

// Shuffles that spread 16 samples of each of three planes over 48 bytes: byte i comes from sample i / 3 of plane i % 3.
struct Spread {
  alignas(32) int8_t index[3][3][32];   // [third of the output][plane], the same for each 128-bit lane
  constexpr Spread() : index{} {
    for (int i = 0; i < 48; i++)
      for (int plane = 0; plane < 3; plane++)
        for (int lane = 0; lane < 32; lane += 16)
          index[i / 16][plane][i % 16 + lane] = int8_t(i % 3 == plane ? i / 3 : -1);
  }
};
constexpr Spread kSpread;

#if defined(__AVX2__)
constexpr int kStep = 32;
using Vec = __m256i;
#define PS_V(name) _mm256_##name
Vec load(const void* p) { return _mm256_loadu_si256(static_cast<const Vec*>(p)); }
Vec zero() { return _mm256_setzero_si256(); }
Vec either(Vec a, Vec b) { return _mm256_or_si256(a, b); }
void store_third(Vec v, uint8_t* out) {   // the lanes hold the same third of two neighbouring runs of 48 bytes
  _mm_storeu_si128(reinterpret_cast<__m128i*>(out), _mm256_castsi256_si128(v));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(out + 48), _mm256_extracti128_si256(v, 1));
}
#else
constexpr int kStep = 16;
using Vec = __m128i;
#define PS_V(name) _mm_##name
Vec load(const void* p) { return _mm_loadu_si128(static_cast<const Vec*>(p)); }
Vec zero() { return _mm_setzero_si128(); }
Vec either(Vec a, Vec b) { return _mm_or_si128(a, b); }
void store_third(Vec v, uint8_t* out) { _mm_storeu_si128(reinterpret_cast<Vec*>(out), v); }
#endif

[[gnu::always_inline]] inline void store(Vec a, Vec b, Vec c, uint8_t* out) {
  for (int third = 0; third < 3; third++) {
    const auto& index = kSpread.index[third];
    Vec spread_a = PS_V(shuffle_epi8)(a, load(index[0])), spread_b = PS_V(shuffle_epi8)(b, load(index[1]));
    store_third(either(either(spread_a, spread_b), PS_V(shuffle_epi8)(c, load(index[2]))), out + 16 * third);
  }
}

// libjpeg's factors times 2^16, brought into the range of int16 by whole multiples of 2^16:
// 1.402 = 1 + 26345 / 2^16, 1.772 = 2 - 14942 / 2^16, 0.71414 = 1 - 18734 / 2^16, 0.34414 = 22554 / 2^16.
constexpr int kRedCr = 26345, kBlueCb = -14942, kGreenCb = -22554, kGreenCr = 18734;

struct Rgb { Vec r, g, b; };

// y and the chroma (already less 128) as 16-bit lanes.
Rgb convert(Vec y, Vec cb, Vec cr) {
  auto rounded_product = [](Vec twice, int factor) {   // (twice / 2 * factor + 2^15) >> 16
    Vec high = PS_V(mulhi_epi16)(twice, PS_V(set1_epi16)(short(factor)));
    return PS_V(srai_epi16)(PS_V(add_epi16)(high, PS_V(set1_epi16)(1)), 1);
  };
  Vec cb2 = PS_V(add_epi16)(cb, cb), cr2 = PS_V(add_epi16)(cr, cr);
  Vec red = PS_V(add_epi16)(cr, rounded_product(cr2, kRedCr));
  Vec blue = PS_V(add_epi16)(cb2, rounded_product(cb2, kBlueCb));
  Vec factors = PS_V(set1_epi32)(int(uint32_t(uint16_t(kGreenCb)) | uint32_t(uint16_t(kGreenCr)) << 16));
  Vec half = PS_V(set1_epi32)(1 << 15);
  auto green_part = [&](Vec pairs) {
    return PS_V(srai_epi32)(PS_V(add_epi32)(PS_V(madd_epi16)(pairs, factors), half), 16);
  };
  Vec green = PS_V(packs_epi32)(green_part(PS_V(unpacklo_epi16)(cb, cr)), green_part(PS_V(unpackhi_epi16)(cb, cr)));
  green = PS_V(sub_epi16)(green, cr);
  return {PS_V(add_epi16)(y, red), PS_V(add_epi16)(y, green), PS_V(add_epi16)(y, blue)};
}

[[gnu::always_inline]] inline void convert_step(const uint8_t* y, const uint8_t* cb, const uint8_t* cr, bool bgr,
                                                uint8_t* out) {
  Vec middle = PS_V(set1_epi16)(128), luma = load(y), blue = load(cb), red = load(cr);
  auto centred = [&](Vec wide) { return PS_V(sub_epi16)(wide, middle); };
  Rgb low = convert(PS_V(unpacklo_epi8)(luma, zero()), centred(PS_V(unpacklo_epi8)(blue, zero())),
                    centred(PS_V(unpacklo_epi8)(red, zero())));
  Rgb high = convert(PS_V(unpackhi_epi8)(luma, zero()), centred(PS_V(unpackhi_epi8)(blue, zero())),
                     centred(PS_V(unpackhi_epi8)(red, zero())));
  Vec r = PS_V(packus_epi16)(low.r, high.r), g = PS_V(packus_epi16)(low.g, high.g);
  Vec b = PS_V(packus_epi16)(low.b, high.b);
  bgr ? store(b, g, r, out) : store(r, g, b, out);
}

// Runs step(i, to) over n pixels in steps of kStep; what would go past the end is written aside first.
template <class Step>
void for_steps(int n, uint8_t* out, Step step) {
  int i = 0;
  for (; i + kStep <= n; i += kStep) step(i, out + 3 * i);
  if (i < n) {
    uint8_t rest[3 * kStep];
    step(i, rest);
    std::memcpy(out + 3 * i, rest, size_t(3 * (n - i)));
  }
}

}  // namespace

void ycc_to_rgb(const uint8_t* y, const uint8_t* cb, const uint8_t* cr, int n, bool bgr, uint8_t* out) {
  if (bgr)
    for_steps(n, out, [=](int i, uint8_t* to) { convert_step(y + i, cb + i, cr + i, true, to); });
  else
    for_steps(n, out, [=](int i, uint8_t* to) { convert_step(y + i, cb + i, cr + i, false, to); });
}

void interleave(const uint8_t* a, const uint8_t* b, const uint8_t* c, int n, uint8_t* out) {
  for_steps(n, out, [=](int i, uint8_t* to) { store(load(a + i), load(b + i), load(c + i), to); });
}

void rgb_to_gray(const uint8_t* r, const uint8_t* g, const uint8_t* b, int n, uint8_t* out) {
  for (int i = 0; i < n; i++) out[i] = uint8_t((19595 * r[i] + 38470 * g[i] + 7471 * b[i] + (1 << 15)) >> 16);
}

void rgb_to_studio_ycc(uint8_t* pixels, int n) {
  auto rounded = [](float v) { return uint8_t(int(v + 0.5f)); };
  for (int i = 0; i < n; i++) {
    uint8_t* p = pixels + 3 * i;
    float r = p[0], g = p[1], b = p[2];
    p[0] = rounded(16.0f + 0.25678824f * r + 0.50412941f * g + 0.09790588f * b);
    p[1] = rounded(128.0f - 0.14822290f * r - 0.29099279f * g + 0.43921569f * b);
    p[2] = rounded(128.0f + 0.43921569f * r - 0.36778831f * g - 0.07142737f * b);
  }
}

}  // namespace ps::jpeg
