// A component's samples for pixels: upsampling as libjpeg does it. Filters weigh the nearer of two neighbours with 3
// and the other one with 1; beyond the edges samples repeat.
#pragma once

#include "device/base/bits.h"
#include "device/jpeg/jpeg.h"

namespace ps::device {

#if !PS_HOST
// Numbers below 2^16 by twos in a word, samples 0 and 2 (1 and 3) of four.
PS_FN uint32_t even_of(uint32_t samples) { return samples & 0x00ff00ff; }
PS_FN uint32_t odd_of(uint32_t samples) { return samples >> 8 & 0x00ff00ff; }
PS_FN uint32_t twice(uint32_t v) { return v << 16 | v; }
// The even ones divided by 2^shift, and between them the odd ones: bytes.
PS_FN uint32_t join_bytes(uint32_t even, uint32_t odd, int shift) {
  return (even >> shift & 0x00ff00ff) | (odd << (8 - shift) & 0xff00ff00);
}

// Four samples of a row; `sides`: those before and behind them.
struct JpegRow {
  uint32_t even, odd, sides;
  // With the row on the other side of the pixels.
  PS_FN JpegRow mixed(const JpegRow& far, uint32_t near_weight) const {
    const uint32_t far_weight = 4 - near_weight;
    return {near_weight * even + far_weight * far.even, near_weight * odd + far_weight * far.odd,
            near_weight * sides + far_weight * far.sides};
  }
  // Twice as many; `left`, `right`: added to those before and behind each sample for rounding.
  PS_FN void widen(uint32_t left, uint32_t right, uint32_t (&to)[2]) const {
    const uint32_t e = 3 * even, o = 3 * odd;
    const uint32_t p04 = e + pick_bytes(sides, odd, 0x5410) + twice(left), p15 = e + odd + twice(right);
    const uint32_t p26 = o + even + twice(left), p37 = o + pick_bytes(even, sides, 0x7632) + twice(right);
    const uint32_t p0145 = join_bytes(p04, p15, 4), p2367 = join_bytes(p26, p37, 4);
    to[0] = pick_bytes(p0145, p2367, 0x5410), to[1] = pick_bytes(p0145, p2367, 0x7632);
  }
};

// For eight pixels each of rows y and y + 1 from x on: x is a multiple of 8 and y is odd, so that between them lie the
// same two rows of samples. Some of the pixels are in the window; what the others get does not matter.
PS_FN void jpeg_upsample(const JpegComponent& c, int x, int y, uint32_t (&rows)[2][2]) {
  const int pitch = c.columns * 8, left = c.column * 8, top = c.row * 8;
  const int last_x = min(c.width, left + pitch) - 1, last_y = min(c.height, top + c.rows * 8) - 1;
  const int i = x >> c.shift_x;
  const uint8_t* first = on_gpu(c.plane) + (i - left);
  const uint8_t* row[2];
  PS_UNROLL
  for (int k = 0; k < 2; k++) {
    const int line = clamp((y + k) >> c.shift_y, top, last_y) - top;
    row[k] = first + uint32_t(line) * uint32_t(pitch);
  }
  const bool vertical = c.filter_y;
  if (c.filter_x) {
    const int before = max(i - 1, left) - i, behind = min(i + 4, last_x) - i;
    const uint32_t there = behind >= 3 ? 0x3210 : behind == 2 ? 0x2210 : behind == 1 ? 0x1110 : 0;
    JpegRow v[2];
    PS_UNROLL
    for (int k = 0; k < 2; k++) {
      const uint32_t four = pick_bytes(*reinterpret_cast<const uint32_t*>(row[k]), 0, there);
      v[k] = {even_of(four), odd_of(four), uint32_t(row[k][before]) | uint32_t(row[k][behind]) << 16};
    }
    // Without a filter from row to row sums are four times as large as they need be.
    const uint32_t near_weight = vertical ? 3 : 4, round_left = vertical ? 8 : 4, round_right = vertical ? 7 : 8;
    PS_UNROLL
    for (int k = 0; k < 2; k++) v[k].mixed(v[1 - k], near_weight).widen(round_left, round_right, rows[k]);
  } else if (vertical) {
    PS_UNROLL
    for (int h = 0; h < 2; h++) {
      const uint32_t v[] = {reinterpret_cast<const uint32_t*>(row[0])[h], reinterpret_cast<const uint32_t*>(row[1])[h]};
      PS_UNROLL
      for (int k = 0; k < 2; k++) {
        const uint32_t even = 3 * even_of(v[k]) + even_of(v[1 - k]), odd = 3 * odd_of(v[k]) + odd_of(v[1 - k]);
        rows[k][h] = join_bytes(even + twice(2 - uint32_t(k)), odd + twice(2 - uint32_t(k)), 2);
      }
    }
  } else {
    PS_UNROLL
    for (int k = 0; k < 2; k++) {
      if (c.shift_x == 0) {
        const uint64_t eight = *reinterpret_cast<const uint64_t*>(row[k]);
        rows[k][0] = uint32_t(eight), rows[k][1] = uint32_t(eight >> 32);
      } else if (c.shift_x == 1) {
        const uint32_t four = *reinterpret_cast<const uint32_t*>(row[k]);
        rows[k][0] = pick_bytes(four, 0, 0x1100), rows[k][1] = pick_bytes(four, 0, 0x3322);
      } else {
        rows[k][0] = row[k][0] * 0x01010101u, rows[k][1] = row[k][1] * 0x01010101u;
      }
    }
  }
}
#endif

}  // namespace ps::device
