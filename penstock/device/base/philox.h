// Counter-based random bits, the same on CPU and GPU: Philox4x32-10 of Salmon, Moraes, Dror and Shaw, "Parallel Random
// Numbers: As Easy as 1, 2, 3" (SC11).
#pragma once

#include "device/base/base.h"

namespace ps::device {

struct PhiloxWords {
  uint32_t w[4];
  PS_FN uint64_t wide(int i) const { return uint64_t(w[2 * i]) << 32 | w[2 * i + 1]; }
};

// One key, sample and epoch give a sequence of blocks.
struct PhiloxSequence {
  uint64_t key, sample;
  uint32_t epoch;

  PS_FN PhiloxWords block(uint32_t number) const {
    uint32_t c0 = number, c1 = epoch, c2 = uint32_t(sample), c3 = uint32_t(sample >> 32);
    uint32_t k0 = uint32_t(key), k1 = uint32_t(key >> 32);
    PS_UNROLL
    for (int round = 0; round < 10; round++) {
      const uint64_t p0 = uint64_t(0xD2511F53u) * c0, p1 = uint64_t(0xCD9E8D57u) * c2;
      c0 = uint32_t(p1 >> 32) ^ c1 ^ k0;
      c1 = uint32_t(p1);
      c2 = uint32_t(p0 >> 32) ^ c3 ^ k1;
      c3 = uint32_t(p0);
      k0 += 0x9E3779B9u;
      k1 += 0xBB67AE85u;
    }
    return {{c0, c1, c2, c3}};
  }
};

// Uniform in [0, 1). 32 bits are more than a float holds, except next to 0.
PS_FN double uniform32(uint32_t bits) { return double(bits) * 0x1p-32; }
PS_FN double uniform53(uint64_t bits) { return double(bits >> 11) * 0x1p-53; }

// Uniform integer in [0, n), n > 0, without modulo bias worth measuring (n is far below 2^64).
PS_FN uint64_t below(uint64_t bits, uint64_t n) {
#if defined(__CUDACC_RTC__)
  return __umul64hi(bits, n);
#else
  return uint64_t((unsigned __int128)(bits) * n >> 64);
#endif
}

// The logarithm and the sine and cosine of a part of a turn, of additions, multiplications and divisions alone, which
// are rounded alike everywhere; libraries' functions are not. Off by a few units in the last place.
PS_FN double logarithm(double v) {                       // of normal numbers above 0
#if defined(__CUDACC_RTC__)
  uint64_t bits = uint64_t(__double_as_longlong(v));
#else
  uint64_t bits;
  std::memcpy(&bits, &v, sizeof bits);
#endif
  // v = m * 2^e, m from sqrt(1/2) to sqrt(2).
  bits += 0x3FF0000000000000u - 0x3FE6A09E667F3BCDu;
  const int e = int(bits >> 52) - 1023;
  bits = (bits & 0xFFFFFFFFFFFFFu) + 0x3FE6A09E667F3BCDu;
#if defined(__CUDACC_RTC__)
  const double m = __longlong_as_double(int64_t(bits));
#else
  double m;
  std::memcpy(&m, &bits, sizeof m);
#endif
  // log m = 2 artanh s = 2 (s + s^3 / 3 + s^5 / 5 + ...)
  const double s = (m - 1) / (m + 1), z = s * s;
  double sum = 1.0 / 23;
  PS_UNROLL
  for (int k = 21; k > 1; k -= 2) sum = sum * z + 1.0 / k;
  return e * 0.69314718055994530942 + 2 * (s + s * z * sum);
}

struct SineCosine {
  double sine, cosine;
};
PS_FN SineCosine of_turn(double part) {                  // from 0 to 1
  const int quarter = int(part * 4 + 0.5);
  const double x = (part * 4 - quarter) * 1.57079632679489661923, z = x * x;        // at most an eighth of a turn
  double sine = 0, cosine = 0;
  PS_UNROLL
  for (int k = 18; k > 1; k -= 2) {                      // x - x^3 / 6 + ..., and 1 - x^2 / 2 + ...
    sine = (1 - sine) * z * (1.0 / (k * (k + 1)));
    cosine = (1 - cosine) * z * (1.0 / (k * (k - 1)));
  }
  sine = x - x * sine;
  cosine = 1 - cosine;
  if (quarter & 1) return {quarter & 2 ? -cosine : cosine, quarter & 2 ? sine : -sine};
  return {quarter & 2 ? -sine : sine, quarter & 2 ? -cosine : cosine};
}

// Two independent numbers of the standard normal distribution, by Box and Muller.
struct NormalPair {
  double v[2];
};
PS_FN NormalPair normal_pair(const PhiloxWords& words) {
  const SineCosine angle = of_turn(uniform53(words.wide(1)));
#if defined(__CUDACC_RTC__)
  const double radius = ::sqrt(-2 * logarithm(1 - uniform53(words.wide(0))));
#else
  const double radius = std::sqrt(-2 * logarithm(1 - uniform53(words.wide(0))));
#endif
  return {{radius * angle.cosine, radius * angle.sine}};
}

}  // namespace ps::device
