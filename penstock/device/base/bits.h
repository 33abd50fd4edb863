// Instructions for which C++ has no operators.
#pragma once

#include "device/base/base.h"

namespace ps::device {

#if defined(__CUDACC_RTC__)
PS_FN uint32_t bits_of(float v) { return __float_as_uint(v); }
// Of the bytes of a (0 to 3) and b (4 to 7) those that the hexadecimal digits of `which` name, the last one first.
PS_FN uint32_t pick_bytes(uint32_t a, uint32_t b, uint32_t which) { return __byte_perm(a, b, which); }
// The lower half of (high:low) >> shift, for shifts below 32.
PS_FN uint32_t shift_pair(uint32_t low, uint32_t high, uint32_t shift) { return __funnelshift_r(low, high, shift); }
// sum + the dot product of two 16-bit numbers and the lower (upper) two bytes of `bytes`.
PS_FN uint32_t dot_lower(uint32_t pair, uint32_t bytes, uint32_t sum) { return __dp2a_lo(pair, bytes, sum); }
PS_FN uint32_t dot_upper(uint32_t pair, uint32_t bytes, uint32_t sum) { return __dp2a_hi(pair, bytes, sum); }
PS_FN int count_ones(uint32_t bits) { return __popc(bits); }
PS_FN int count_ones(uint64_t bits) { return __popcll(bits); }
PS_FN int lowest_one(uint32_t bits) { return __ffs(int(bits)) - 1; }           // its index; bits are not all zero
PS_FN int lowest_one(uint64_t bits) { return __ffsll((long long)(bits)) - 1; }
PS_FN void or_into(uint32_t* word, uint32_t bits) { atomicOr(word, bits); }    // atomic
#else
PS_FN uint32_t bits_of(float v) {
  uint32_t bits;
  std::memcpy(&bits, &v, sizeof bits);
  return bits;
}
PS_FN uint32_t pick_bytes(uint32_t a, uint32_t b, uint32_t which) {
  const uint64_t both = uint64_t(b) << 32 | a;
  uint32_t picked = 0;
  for (int i = 0; i < 4; i++) picked |= uint32_t(both >> (which >> 4 * i & 7) * 8 & 0xff) << 8 * i;
  return picked;
}
PS_FN uint32_t shift_pair(uint32_t low, uint32_t high, uint32_t shift) {
  return uint32_t((uint64_t(high) << 32 | low) >> shift);
}
PS_FN uint32_t dot_lower(uint32_t pair, uint32_t bytes, uint32_t sum) {
  return sum + (pair & 0xffff) * (bytes & 0xff) + (pair >> 16) * (bytes >> 8 & 0xff);
}
PS_FN uint32_t dot_upper(uint32_t pair, uint32_t bytes, uint32_t sum) { return dot_lower(pair, bytes >> 16, sum); }
PS_FN int count_ones(uint32_t bits) { return __builtin_popcount(bits); }
PS_FN int count_ones(uint64_t bits) { return __builtin_popcountll(bits); }
PS_FN int lowest_one(uint32_t bits) { return __builtin_ctz(bits); }
PS_FN int lowest_one(uint64_t bits) { return __builtin_ctzll(bits); }
PS_FN void or_into(uint32_t* word, uint32_t bits) { __atomic_fetch_or(word, bits, __ATOMIC_RELAXED); }
#endif

}  // namespace ps::device
