// Numbers of a normal distribution added to pictures.
#pragma once

#include "device/noise/noise.h"

namespace ps::device {

// As normal_pair() of base/philox.h, in floats, which loops do several at a time: two numbers of 32 bits each.
struct Normals {
  float v[2];
};
PS_FN Normals normals(uint32_t a, uint32_t b) {
  const float v = float(a) * 0x1p-32f + 0x1p-33f;
#if defined(__CUDACC_RTC__)
  uint32_t bits = __float_as_uint(v);
#else
  uint32_t bits;
  std::memcpy(&bits, &v, sizeof bits);
#endif
  // v = m * 2^e, m from sqrt(1/2) to sqrt(2); log m = 2 artanh s = 2 (s + s^3 / 3 + s^5 / 5 + ...)
  bits += 0x3F800000u - 0x3F3504F3u;
  const int e = int(bits >> 23) - 127;
  bits = (bits & 0x7FFFFFu) + 0x3F3504F3u;
#if defined(__CUDACC_RTC__)
  const float m = __uint_as_float(bits);
#else
  float m;
  std::memcpy(&m, &bits, sizeof m);
#endif
  const float s = (m - 1) / (m + 1), z = s * s;
  const float series = (((1.f / 9 * z + 1.f / 7) * z + 1.f / 5) * z + 1.f / 3) * z;
  const float log = float(e) * 0.69314718f + 2 * (s + s * series);
  const float radius = rounded_root(log < 0 ? -2 * log : 0.f);

  const float turn = float(b) * 0x1p-30f;                // 0 to 4 quarters
  const int quarter = int(turn + 0.5f);
  const float x = (turn - float(quarter)) * 1.57079633f, y = x * x;
  const float sine = x - x * y * (1.f / 6 - y * (1.f / 120 - y * (1.f / 5040 - y * (1.f / 362880))));
  const float cosine = 1 - y * (0.5f - y * (1.f / 24 - y * (1.f / 720 - y * (1.f / 40320))));
  const float across = quarter & 1 ? -sine : cosine, up = quarter & 1 ? cosine : sine;
  return {{radius * (quarter & 2 ? -across : across), radius * (quarter & 2 ? -up : up)}};
}

template <class T> struct GaussianNoise : NoiseFields {
  float mean, stddev;

  PS_FN T add(T v, float normal) const {
    using S = typename Sum<T>::type;
    return convert<T>(convert<S>(v) + (S(mean) + S(stddev) * S(normal)));
  }
  // Four elements have a block of random bits, each two of them half of it.
  PS_FN T operator()(T v, int64_t i) const {
    const PhiloxWords words = random.block(uint32_t(i / 4));
    const int pair = int(i & 2);
    return add(v, normals(words.w[pair], words.w[pair + 1]).v[i & 1]);
  }
  template <class Up> PS_FN auto at(const Up& up, int x, int y, int c) const { return noisy<T>(*this, up, x, y, c); }
};

}  // namespace ps::device
