// Numbers of a normal distribution.
#pragma once

#include "device/random/drawn.h"

namespace ps::device {

template <class T> struct Normal {
  Drawn drawn;
  double mean, stddev;
  static constexpr int kPer = 2;

  PS_FN void element(int64_t block) const {
    const NormalPair pair = normal_pair(drawn.random.block(uint32_t(block)));
    store<kPer, T>(drawn, block, [&](int k) { return convert<T>(mean + stddev * pair.v[k]); });
  }
};

}  // namespace ps::device
