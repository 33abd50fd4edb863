// Ones with a given probability, zeros otherwise.
#pragma once

#include "device/random/drawn.h"

namespace ps::device {

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
