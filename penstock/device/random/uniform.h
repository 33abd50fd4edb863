// Numbers from an interval, or from a list.
#pragma once

#include "device/random/drawn.h"

namespace ps::device {

template <class T> struct Uniform {
  Drawn drawn;
  double low, high;                    // of an integer type, both are whole, and numbers between are rounded
  static constexpr int kPer = is_same<T, float> || is_same<T, half> ? 4 : 2;

  PS_FN void element(int64_t block) const {
    const PhiloxWords words = drawn.random.block(uint32_t(block));
    store<kPer, T>(drawn, block, [&](int k) {
      const double u = kPer == 4 ? uniform32(words.w[k]) : uniform53(words.wide(k & 1));
      if constexpr (is_real<T>) {
        const T v = T(low + (high - low) * u);
        return double(v) < high ? v : T(low);            // rounding can reach the end, which is not in the interval
      } else {
        return convert<T>(low + (high - low) * u);
      }
    });
  }
};

template <class T> struct UniformOf {
  Drawn drawn;
  const double* values;
  int64_t size;
  static constexpr int kPer = 2;

  PS_FN void element(int64_t block) const {
    const PhiloxWords words = drawn.random.block(uint32_t(block));
    store<kPer, T>(drawn, block, [&](int k) { return convert<T>(values[below(words.wide(k), uint64_t(size))]); });
  }
};

}  // namespace ps::device
