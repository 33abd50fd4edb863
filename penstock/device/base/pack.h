// Numbers of 32 bits brought into the range of narrower ones, several in a word: the first one lowest.
#pragma once

#include "device/base/base.h"

namespace ps::device {

#if defined(__CUDACC_RTC__)
PS_FN uint32_t pack_shorts(int a, int b) {
  uint32_t packed;
  asm("cvt.pack.sat.s16.s32 %0, %2, %1;" : "=r"(packed) : "r"(a), "r"(b));
  return packed;
}
PS_FN uint32_t pack_bytes(int a, int b, int c, int d) {
  uint32_t upper, packed;
  asm("cvt.pack.sat.u8.s32.b32 %0, %2, %1, 0;" : "=r"(upper) : "r"(c), "r"(d));
  asm("cvt.pack.sat.u8.s32.b32 %0, %2, %1, %3;" : "=r"(packed) : "r"(a), "r"(b), "r"(upper));
  return packed;
}
PS_FN uint32_t pack_signed_bytes(int a, int b, int c, int d) {
  uint32_t upper, packed;
  asm("cvt.pack.sat.s8.s32.b32 %0, %2, %1, 0;" : "=r"(upper) : "r"(c), "r"(d));
  asm("cvt.pack.sat.s8.s32.b32 %0, %2, %1, %3;" : "=r"(packed) : "r"(a), "r"(b), "r"(upper));
  return packed;
}
#else
PS_FN uint32_t pack_shorts(int a, int b) {
  return uint16_t(clamp(a, -32768, 32767)) | uint32_t(clamp(b, -32768, 32767)) << 16;
}
PS_FN uint32_t pack_four(int a, int b, int c, int d, int low, int high) {
  const int v[] = {a, b, c, d};
  uint32_t packed = 0;
  for (int i = 0; i < 4; i++) packed |= uint32_t(uint8_t(clamp(v[i], low, high))) << 8 * i;
  return packed;
}
PS_FN uint32_t pack_bytes(int a, int b, int c, int d) { return pack_four(a, b, c, d, 0, 255); }
PS_FN uint32_t pack_signed_bytes(int a, int b, int c, int d) { return pack_four(a, b, c, d, -128, 127); }
#endif

}  // namespace ps::device
