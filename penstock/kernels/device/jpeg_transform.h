// Dequantisation and the inverse DCT: the accurate integer method of the JPEG group's library ("islow"), with sums of
// 16 bits that wrap and saturate as in native/decode/jpeg/idct.cpp.
#pragma once

#include "kernels/device/jpeg.h"

namespace ps::device {

// The blocks of a tile, row by row, with room between them against bank conflicts.
struct JpegTransformMemory {
  int16_t block[kJpegTileBlocks][8 * 8 + 2];
};

#if !PS_HOST
PS_FN int wrapped(int v) { return int16_t(v); }
PS_FN int shifted(uint32_t sum, int by) { return int(sum + (1u << (by - 1))) >> by; }

// One pass over eight numbers of 16 bits. The constants of Loeffler, Ligtenberg and Moschytz's transform, times 2^13;
// products that share a sum are folded. Sums are taken modulo 2^32.
template <int kShift> PS_FN void transform_eight(const int (&v)[8], int (&out)[8]) {
  constexpr int k0_298 = 2446, k0_390 = 3196, k0_541 = 4433, k0_765 = 6270, k0_899 = 7373, k1_175 = 9633,
                k1_501 = 12299, k1_847 = 15137, k1_961 = 16069, k2_053 = 16819, k2_562 = 20995, k3_072 = 25172;
  const auto pair = [](int a, int b, int p, int q) { return uint32_t(a * p) + uint32_t(b * q); };
  const uint32_t even2 = pair(v[2], v[6], k0_541, k0_541 - k1_847), even3 = pair(v[2], v[6], k0_541 + k0_765, k0_541);
  const uint32_t sum = uint32_t(wrapped(v[0] + v[4])) << 13, difference = uint32_t(wrapped(v[0] - v[4])) << 13;
  const uint32_t e0 = sum + even3, e3 = sum - even3, e1 = difference + even2, e2 = difference - even2;

  const int a = wrapped(v[7] + v[3]), b = wrapped(v[5] + v[1]);
  const uint32_t z3 = pair(a, b, k1_175 - k1_961, k1_175), z4 = pair(a, b, k1_175, k1_175 - k0_390);
  const uint32_t o0 = pair(v[7], v[1], k0_298 - k0_899, -k0_899) + z3;
  const uint32_t o3 = pair(v[7], v[1], -k0_899, k1_501 - k0_899) + z4;
  const uint32_t o1 = pair(v[5], v[3], k2_053 - k2_562, -k2_562) + z4;
  const uint32_t o2 = pair(v[5], v[3], -k2_562, k3_072 - k2_562) + z3;

  out[0] = shifted(e0 + o3, kShift), out[7] = shifted(e0 - o3, kShift);
  out[1] = shifted(e1 + o2, kShift), out[6] = shifted(e1 - o2, kShift);
  out[2] = shifted(e2 + o1, kShift), out[5] = shifted(e2 - o1, kShift);
  out[3] = shifted(e3 + o0, kShift), out[4] = shifted(e3 - o0, kShift);
}

struct alignas(16) JpegEight {
  int16_t v[8];
};

// A block for each tile: eight threads for 8 x 8 samples, which take a column each, then a row each.
PS_FN void jpeg_transform(const Launch& l) {
  PS_SHARED_MEMORY(memory);
  auto& m = *reinterpret_cast<JpegTransformMemory*>(memory);
  const JpegBlock b = jpeg_block(l);
  const JpegPicture& p = b.picture;
  if (!is_sound(p)) return;
  int k = p.components - 1;
  while (k && p.component[k].first_tile > b.number) k--;
  const JpegComponent& c = p.component[k];
  const int64_t first = int64_t(b.number - c.first_tile) * kJpegTileBlocks, all = int64_t(c.columns) * c.rows;
  const int count = int(min(int64_t(kJpegTileBlocks), all - first));
  for (int i = thread(); i < count * 8; i += threads()) {
    const int n = i / 8, column = i % 8;
    const auto number = uint32_t(first + n), across = number / uint32_t(c.columns);
    const int x = c.column + int(number - across * uint32_t(c.columns)), y = c.row + int(across);
    const int mcu_x = x / c.h, mcu_y = y / c.v;
    const int rank = (y - mcu_y * c.v) * c.h + x - mcu_x * c.h;
    int slot = rank;
    for (int j = 0; j < k; j++)
      if (p.component[j].columns) slot += p.component[j].blocks;
    const int64_t kept = int64_t(mcu_y - p.mcu_row) * p.mcu_columns + mcu_x - p.mcu_column;
    const int16_t* from = p.coefficients + (kept * p.kept_in_mcu + slot) * 64 + column * 8;
    const JpegEight coefficients = *reinterpret_cast<const JpegEight*>(from);
    const JpegEight quant = *reinterpret_cast<const JpegEight*>(c.quant + column * 8);
    int v[8], out[8];
    PS_UNROLL
    for (int r = 0; r < 8; r++) v[r] = wrapped(coefficients.v[r] * quant.v[r]);
    if (column == 0) v[0] = wrapped(c.dc[(int64_t(mcu_y) * p.mcus_across + mcu_x) * c.blocks + rank] * quant.v[0]);
    transform_eight<11>(v, out);
    PS_UNROLL
    for (int r = 0; r < 8; r++) m.block[n][r * 8 + column] = int16_t(clamp(out[r], -32768, 32767));
  }
  sync();
  for (int i = thread(); i < count * 8; i += threads()) {
    const int n = i % count, row = i / count;      // neighbours write next to each other
    const auto number = uint32_t(first + n), across = number / uint32_t(c.columns);
    int v[8], out[8];
    PS_UNROLL
    for (int x = 0; x < 8; x++) v[x] = m.block[n][row * 8 + x];
    transform_eight<18>(v, out);
    uint64_t samples = 0;
    PS_UNROLL
    for (int x = 0; x < 8; x++) samples |= uint64_t(clamp(out[x], -128, 127) + 128) << 8 * x;
    const int64_t pitch = int64_t(c.columns) * 8;
    uint8_t* to = c.plane + (int64_t(across) * 8 + row) * pitch + int64_t(number - across * uint32_t(c.columns)) * 8;
    *reinterpret_cast<uint64_t*>(to) = samples;
  }
}
#endif

}  // namespace ps::device
