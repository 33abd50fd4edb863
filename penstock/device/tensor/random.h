// Random numbers, element by element of elements.h: one block of random bits each, which gives several numbers. The CPU
// runs the very same.
#pragma once

#include "device/base/philox.h"
#include "device/tensor/elements.h"

namespace ps::device {

struct Drawn {                         // the output
  PhiloxSequence random;
  void* out;
  int64_t count;
};

// Stores numbers kPer * block, ... as get(k) gives them.
template <int kPer, class T, class Get> PS_FN void store(const Drawn& d, int64_t block, Get get) {
  T* out = static_cast<T*>(d.out) + block * kPer;
  if ((block + 1) * kPer <= d.count) {
    PS_UNROLL
    for (int k = 0; k < kPer; k++) out[k] = get(k);
  } else {
    for (int k = 0; block * kPer + k < d.count; k++) out[k] = get(k);
  }
}

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

template <class T> struct Normal {
  Drawn drawn;
  double mean, stddev;
  static constexpr int kPer = 2;

  PS_FN void element(int64_t block) const {
    const NormalPair pair = normal_pair(drawn.random.block(uint32_t(block)));
    store<kPer, T>(drawn, block, [&](int k) { return convert<T>(mean + stddev * pair.v[k]); });
  }
};

template <class T> struct CoinFlip {
  Drawn drawn;
  double probability;
  static constexpr int kPer = 4;

  PS_FN void element(int64_t block) const {
    const PhiloxWords words = drawn.random.block(uint32_t(block));
    store<kPer, T>(drawn, block, [&](int k) { return convert<T>(uniform32(words.w[k]) < probability); });
  }
};

}  // namespace ps::device
