// 8-bit CIE L*a*b* of sRGB under D65, forth and back in whole numbers, as OpenCV has it to the last bit.
#pragma once

#include "device/base/convert.h"

namespace ps::device {

// What the host writes.
struct LabTables {
  int32_t linear[256];                 // of a channel, 0 to 2040: without its gamma
  int32_t root[2041];                  // of a component of XYZ, 0 to 2040: its cube root, times 2^15
  int32_t light[256];                  // of L*: Y times 2^14, and its cube root times 2^14 in the upper half
  int32_t gamma[4096];                 // of a linear channel, 0 to 4095: 0 to 255
};

struct Lab {
  int light, a, b;                     // 0 to 255
};

PS_FN int lab_x(int r, int g, int b) { return (1777 * r + 1541 * g + 778 * b + 2048) >> 12; }
PS_FN int lab_y(int r, int g, int b) { return (871 * r + 2929 * g + 296 * b + 2048) >> 12; }
PS_FN int lab_z(int r, int g, int b) { return (73 * r + 448 * g + 3575 * b + 2048) >> 12; }

PS_FN int lab_byte(int v) { return v < 0 ? 0 : v > 255 ? 255 : v; }

// The third power of a cube root, both times 2^14; a line below 0.207.
PS_FN int lab_cube(int v) {
  const int line = v * 108 / 841 - 290, cube = ((v * v) >> 14) * v >> 14;
  return v <= 3390 ? line : cube;
}

PS_FN Lab lab_split(const LabTables& t, int red, int green, int blue) {
  const int lr = t.linear[red], lg = t.linear[green], lb = t.linear[blue];
  const int fx = t.root[lab_x(lr, lg, lb)], fy = t.root[lab_y(lr, lg, lb)], fz = t.root[lab_z(lr, lg, lb)];
  return {(296 * fy - 1336934 + (1 << 14)) >> 15, lab_byte((500 * (fx - fy) + (128 << 15) + (1 << 14)) >> 15),
          lab_byte((200 * (fy - fz) + (128 << 15) + (1 << 14)) >> 15)};
}

template <class Out> PS_FN void lab_join(const LabTables& t, const Lab& v, Out* to) {
  const int both = t.light[v.light], y = both & 0xffff, f = both >> 16;
  const int x = lab_cube(f + ((5 * v.a * 53687 + 128) >> 13) - 4194);
  const int z = lab_cube(f - (((v.b * 41943 + 16) >> 9) - 10484));
  const int r = (12615 * x - 6296 * y - 2223 * z + 8192) >> 14;
  const int g = (-3773 * x + 7684 * y + 185 * z + 8192) >> 14;
  const int o = (217 * x - 836 * y + 4715 * z + 8192) >> 14;
  to[0] = Out(t.gamma[clamp(r, 0, 4095)]);
  to[1] = Out(t.gamma[clamp(g, 0, 4095)]);
  to[2] = Out(t.gamma[clamp(o, 0, 4095)]);
}

}  // namespace ps::device
