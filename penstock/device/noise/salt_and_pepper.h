// Single pixels turned into white and black ones.
#pragma once

#include "device/base/divisor.h"
#include "device/noise/noise.h"

namespace ps::device {

// A random number decides: less than `salt`, less than `either`, or more. Elements with the same number in place of
// their channel have the same one.
struct SaltAndPepperFields : NoiseFields {
  uint64_t salt, either;               // of 2^32
  Divisor channels, inner;             // elements from one channel to the next; 1 channel: each is by itself
  alignas(8) unsigned char values[2][8];                 // what salt and pepper are, of type T

  PS_FN int64_t pixel(int64_t i) const {
    if (channels.number() == 1) return i;
    const uint64_t row = inner.quotient(uint64_t(i));
    return int64_t(channels.quotient(row) * inner.number() + (uint64_t(i) - row * inner.number()));
  }
};

template <class T> struct SaltAndPepper : SaltAndPepperFields {
  PS_FN T chosen(T v, uint32_t bits) const {
    const T white = *reinterpret_cast<const T*>(values[0]), black = *reinterpret_cast<const T*>(values[1]);
    return bits < salt ? white : bits < either ? black : v;
  }
  PS_FN T operator()(T v, int64_t i) const {
    const int64_t p = pixel(i);
    return chosen(v, random.block(uint32_t(p / 4)).w[p & 3]);
  }
  template <class Up> PS_FN auto at(const Up& up, int x, int y, int c) const { return noisy<T>(*this, up, x, y, c); }
};

}  // namespace ps::device
