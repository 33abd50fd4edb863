#include "decode/jpeg/idct.h"

#include <algorithm>
#include <cstring>

// GCC 12's own AVX-512 header starts undefined vectors in a way that its warning objects to (GCC bug 105593).
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#include "core/simd.h"

namespace ps::jpeg {
namespace {

// One vector holds one row of 8 int16 of each block in the group; only loads and stores cross its 128-bit lanes.
#if defined(__AVX512BW__)
using Vec = __m512i;
#define PS_V(name) _mm512_##name
Vec load(const int16_t* p) { return _mm512_loadu_si512(p); }
Vec broadcast(const uint16_t* p) {
  return _mm512_broadcast_i32x4(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
}
Vec bit_xor(Vec a, Vec b) { return _mm512_xor_si512(a, b); }
void store_rows(Vec v, uint8_t* even, uint8_t* odd) {   // each lane: 8 samples of a row, 8 of the next
  v = _mm512_permutexvar_epi64(_mm512_setr_epi64(0, 2, 4, 6, 1, 3, 5, 7), v);
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(even), _mm512_castsi512_si256(v));
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(odd), _mm512_extracti64x4_epi64(v, 1));
}
#elif defined(__AVX2__)
using Vec = __m256i;
#define PS_V(name) _mm256_##name
Vec load(const int16_t* p) { return _mm256_loadu_si256(reinterpret_cast<const Vec*>(p)); }
Vec broadcast(const uint16_t* p) {
  return _mm256_broadcastsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
}
Vec bit_xor(Vec a, Vec b) { return _mm256_xor_si256(a, b); }
void store_rows(Vec v, uint8_t* even, uint8_t* odd) {
  v = _mm256_permute4x64_epi64(v, 0b11011000);
  _mm_storeu_si128(reinterpret_cast<__m128i*>(even), _mm256_castsi256_si128(v));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(odd), _mm256_extracti128_si256(v, 1));
}
#else
using Vec = __m128i;
#define PS_V(name) _mm_##name
Vec load(const int16_t* p) { return _mm_loadu_si128(reinterpret_cast<const Vec*>(p)); }
Vec broadcast(const uint16_t* p) { return _mm_loadu_si128(reinterpret_cast<const Vec*>(p)); }
Vec bit_xor(Vec a, Vec b) { return _mm_xor_si128(a, b); }
void store_rows(Vec v, uint8_t* even, uint8_t* odd) {
  int64_t low = _mm_cvtsi128_si64(v), high = _mm_extract_epi64(v, 1);
  std::memcpy(even, &low, 8);
  std::memcpy(odd, &high, 8);
}
#endif

constexpr int kConstBits = 13, kPass1Bits = 2;
constexpr int kPass1Shift = kConstBits - kPass1Bits, kPass2Shift = kConstBits + kPass1Bits + 3;

// 32-bit sums for the low and the high four columns of each lane.
struct Wide { Vec low, high; };

Wide operator+(Wide a, Wide b) { return {PS_V(add_epi32)(a.low, b.low), PS_V(add_epi32)(a.high, b.high)}; }
Wide operator-(Wide a, Wide b) { return {PS_V(sub_epi32)(a.low, b.low), PS_V(sub_epi32)(a.high, b.high)}; }

// Two vectors interleaved, so that one multiply-add gives a * p + b * q.
struct Pair {
  Vec low, high;
  Pair(Vec a, Vec b) : low(PS_V(unpacklo_epi16)(a, b)), high(PS_V(unpackhi_epi16)(a, b)) {}
  Wide times(int p, int q) const {
    Vec factors = PS_V(set1_epi32)(int(uint32_t(uint16_t(p)) | uint32_t(uint16_t(q)) << 16));
    return {PS_V(madd_epi16)(low, factors), PS_V(madd_epi16)(high, factors)};
  }
};

// a << kConstBits, in 32 bits.
Wide scaled(Vec a) {
  Vec zero = bit_xor(a, a);
  return {PS_V(srai_epi32)(PS_V(unpacklo_epi16)(zero, a), 16 - kConstBits),
          PS_V(srai_epi32)(PS_V(unpackhi_epi16)(zero, a), 16 - kConstBits)};
}

template <int kShift>
Vec descaled(Wide a) {
  Vec half = PS_V(set1_epi32)(1 << (kShift - 1));
  return PS_V(packs_epi32)(PS_V(srai_epi32)(PS_V(add_epi32)(a.low, half), kShift),
                           PS_V(srai_epi32)(PS_V(add_epi32)(a.high, half), kShift));
}

// The constants of Loeffler, Ligtenberg and Moschytz's eight-point transform, times 2^13.
constexpr int k0_298 = 2446, k0_390 = 3196, k0_541 = 4433, k0_765 = 6270, k0_899 = 7373, k1_175 = 9633, k1_501 = 12299,
              k1_847 = 15137, k1_961 = 16069, k2_053 = 16819, k2_562 = 20995, k3_072 = 25172;

// One pass: a transform along each column. Products that share a sum are folded into pairs of factors.
template <int kShift>
void transform(Vec (&v)[8]) {
  Pair even(v[2], v[6]);
  Wide even2 = even.times(k0_541, k0_541 - k1_847), even3 = even.times(k0_541 + k0_765, k0_541);
  Wide sum = scaled(PS_V(add_epi16)(v[0], v[4])), difference = scaled(PS_V(sub_epi16)(v[0], v[4]));
  Wide e0 = sum + even3, e3 = sum - even3, e1 = difference + even2, e2 = difference - even2;

  Pair cross(PS_V(add_epi16)(v[7], v[3]), PS_V(add_epi16)(v[5], v[1]));
  Wide z3 = cross.times(k1_175 - k1_961, k1_175), z4 = cross.times(k1_175, k1_175 - k0_390);
  Pair outer(v[7], v[1]), inner(v[5], v[3]);
  Wide o0 = outer.times(k0_298 - k0_899, -k0_899) + z3, o3 = outer.times(-k0_899, k1_501 - k0_899) + z4;
  Wide o1 = inner.times(k2_053 - k2_562, -k2_562) + z4, o2 = inner.times(-k2_562, k3_072 - k2_562) + z3;

  v[0] = descaled<kShift>(e0 + o3), v[7] = descaled<kShift>(e0 - o3);
  v[1] = descaled<kShift>(e1 + o2), v[6] = descaled<kShift>(e1 - o2);
  v[2] = descaled<kShift>(e2 + o1), v[5] = descaled<kShift>(e2 - o1);
  v[3] = descaled<kShift>(e3 + o0), v[4] = descaled<kShift>(e3 - o0);
}

void transpose(Vec (&v)[8]) {
  Vec a[8], b[8];
  for (int i = 0; i < 4; i++) {
    a[i] = PS_V(unpacklo_epi16)(v[2 * i], v[2 * i + 1]);
    a[i + 4] = PS_V(unpackhi_epi16)(v[2 * i], v[2 * i + 1]);
  }
  for (int i = 0; i < 8; i += 2) {
    b[i] = PS_V(unpacklo_epi32)(a[i], a[i + 1]);
    b[i + 1] = PS_V(unpackhi_epi32)(a[i], a[i + 1]);
  }
  for (int i = 0; i < 2; i++) {
    v[2 * i] = PS_V(unpacklo_epi64)(b[i], b[i + 2]);
    v[2 * i + 1] = PS_V(unpackhi_epi64)(b[i], b[i + 2]);
    v[2 * i + 4] = PS_V(unpacklo_epi64)(b[i + 4], b[i + 6]);
    v[2 * i + 5] = PS_V(unpackhi_epi64)(b[i + 4], b[i + 6]);
  }
}

// Takes columns, saturates them to samples and stores rows.
void store(const Vec (&v)[8], uint8_t* out, ptrdiff_t stride) {
  Vec p02 = PS_V(packs_epi16)(v[0], v[2]), p13 = PS_V(packs_epi16)(v[1], v[3]);
  Vec p46 = PS_V(packs_epi16)(v[4], v[6]), p57 = PS_V(packs_epi16)(v[5], v[7]);
  Vec c01 = PS_V(unpacklo_epi8)(p02, p13), c23 = PS_V(unpackhi_epi8)(p02, p13);
  Vec c45 = PS_V(unpacklo_epi8)(p46, p57), c67 = PS_V(unpackhi_epi8)(p46, p57);
  Vec left_top = PS_V(unpacklo_epi16)(c01, c23), left_bottom = PS_V(unpackhi_epi16)(c01, c23);
  Vec right_top = PS_V(unpacklo_epi16)(c45, c67), right_bottom = PS_V(unpackhi_epi16)(c45, c67);
  Vec rows[4] = {PS_V(unpacklo_epi32)(left_top, right_top), PS_V(unpackhi_epi32)(left_top, right_top),
                 PS_V(unpacklo_epi32)(left_bottom, right_bottom), PS_V(unpackhi_epi32)(left_bottom, right_bottom)};
  Vec middle = PS_V(set1_epi8)(-128);   // adds 128
  for (int i = 0; i < 4; i++)
    store_rows(bit_xor(rows[i], middle), out + 2 * i * stride, out + (2 * i + 1) * stride);
}

// Blocks of which nothing but the mean is coded.
void fill(const int16_t* coefficients, int quant, uint8_t* out, ptrdiff_t stride) {
  uint8_t row[8 * kGroup];
  for (int n = 0; n < kGroup; n++) {
    int mean = int16_t(uint32_t(coefficients[8 * n] * quant) << kPass1Bits);
    int sample = std::clamp((mean + (1 << (kPass1Bits + 2))) >> (kPass1Bits + 3), -128, 127) + 128;
    std::memset(row + 8 * n, sample, 8);
  }
  for (int y = 0; y < 8; y++) std::memcpy(out + y * stride, row, sizeof row);
}

}  // namespace

void idct(const int16_t* coefficients, const uint16_t* quant, int last, uint8_t* out, ptrdiff_t stride) {
  if (last == 0) return fill(coefficients, quant[0], out, stride);
  Vec v[8];
  for (int row = 0; row < 8; row++)
    v[row] = PS_V(mullo_epi16)(load(coefficients + row * 8 * kGroup), broadcast(quant + 8 * row));
  transform<kPass1Shift>(v);
  transpose(v);
  transform<kPass2Shift>(v);
  store(v, out, stride);
}

}  // namespace ps::jpeg
