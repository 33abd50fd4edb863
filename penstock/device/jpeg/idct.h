// Dequantisation and the inverse DCT of eight numbers: the accurate integer method of the JPEG group's library
// ("islow"), with sums of 16 bits that wrap and saturate as in native/decode/jpeg/idct.cpp.
#pragma once

#include "device/base/bits.h"
#include "device/base/pack.h"

namespace ps::device {

// Eight numbers of 16 bits: two in a word, the first one in its lower half.
struct alignas(16) JpegEight {
  uint32_t v[4];
};

#if !PS_HOST
PS_FN int lower(uint32_t pair) { return int16_t(pair); }
PS_FN int upper(uint32_t pair) { return int(pair) >> 16; }
PS_FN uint32_t shifted_16_13(int v) { return uint32_t(int(uint32_t(v) << 16) >> 3); }   // of its 16 bits, << 13
PS_FN int shifted(uint32_t sum, int by) { return int(sum + (1u << (by - 1))) >> by; }

// One pass over eight numbers of 16 bits. The constants of Loeffler, Ligtenberg and Moschytz's transform, times 2^13;
// products that share a sum are folded. Sums are taken modulo 2^32.
template <int kShift> PS_FN void transform_eight(const int (&v)[8], int (&out)[8]) {
  constexpr int k0_298 = 2446, k0_390 = 3196, k0_541 = 4433, k0_765 = 6270, k0_899 = 7373, k1_175 = 9633,
                k1_501 = 12299, k1_847 = 15137, k1_961 = 16069, k2_053 = 16819, k2_562 = 20995, k3_072 = 25172;
  const auto pair = [](int a, int b, int p, int q, uint32_t sum = 0) {
    return uint32_t(a * p) + (uint32_t(b * q) + sum);
  };
  const uint32_t even2 = pair(v[2], v[6], k0_541, k0_541 - k1_847), even3 = pair(v[2], v[6], k0_541 + k0_765, k0_541);
  const uint32_t sum = shifted_16_13(v[0] + v[4]), difference = shifted_16_13(v[0] - v[4]);
  const uint32_t e0 = sum + even3, e3 = sum - even3, e1 = difference + even2, e2 = difference - even2;

  const int a = int16_t(v[7] + v[3]), b = int16_t(v[5] + v[1]);
  const uint32_t z3 = pair(a, b, k1_175 - k1_961, k1_175), z4 = pair(a, b, k1_175, k1_175 - k0_390);
  const uint32_t o0 = pair(v[7], v[1], k0_298 - k0_899, -k0_899, z3);
  const uint32_t o3 = pair(v[7], v[1], -k0_899, k1_501 - k0_899, z4);
  const uint32_t o1 = pair(v[5], v[3], k2_053 - k2_562, -k2_562, z4);
  const uint32_t o2 = pair(v[5], v[3], -k2_562, k3_072 - k2_562, z3);

  out[0] = shifted(e0 + o3, kShift), out[7] = shifted(e0 - o3, kShift);
  out[1] = shifted(e1 + o2, kShift), out[6] = shifted(e1 - o2, kShift);
  out[2] = shifted(e2 + o1, kShift), out[5] = shifted(e2 - o1, kShift);
  out[3] = shifted(e3 + o0, kShift), out[4] = shifted(e3 - o0, kShift);
}

// Products wrap at 16 bits.
PS_FN JpegEight transform_column(JpegEight coefficients, JpegEight quant) {
  int v[8], out[8];
  PS_UNROLL
  for (int i = 0; i < 4; i++) {
    v[2 * i] = lower(coefficients.v[i] * quant.v[i]);
    v[2 * i + 1] = int((coefficients.v[i] & 0xffff0000) * (quant.v[i] >> 16)) >> 16;
  }
  transform_eight<11>(v, out);
  JpegEight column;
  PS_UNROLL
  for (int i = 0; i < 4; i++) column.v[i] = pack_shorts(out[2 * i], out[2 * i + 1]);
  return column;
}

PS_FN uint64_t transform_row(const int (&v)[8]) {
  int out[8];
  transform_eight<18>(v, out);
  const uint32_t left = pack_signed_bytes(out[0], out[1], out[2], out[3]) ^ 0x80808080;      // adds 128
  return uint64_t(pack_signed_bytes(out[4], out[5], out[6], out[7]) ^ 0x80808080) << 32 | left;
}

#endif

}  // namespace ps::device
