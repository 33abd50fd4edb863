// Numbers of classes as vectors that are 1 at the class.
#pragma once

#include "device/base/divisor.h"
#include "device/tensor/elements.h"

namespace ps::device {

// Which class a number stands for: fractions are cut off. -1: none.
template <class T> PS_FN int64_t class_of(T v) {
  if constexpr (is_same<T, half>) return class_of(float(v));
  else if constexpr (is_real<T>) return v > T(-1) && v < T(0x1p62) ? int64_t(v) : -1;
  else return int64_t(v);
}

struct OneHotFields {
  const void* in;
  void* out;
  Divisor inner, classes;              // elements from one class to the next
  unsigned char on[8], off[8];         // of the output's type
};

template <class In, class Out> struct OneHot : OneHotFields {
  PS_FN void element(int64_t i) const {
    const uint64_t above = inner.quotient(uint64_t(i)), outer = classes.quotient(above);
    const auto number = int64_t(above - outer * classes.number());
    const auto from = int64_t(outer * inner.number() + (uint64_t(i) - above * inner.number()));
    const bool here = class_of(static_cast<const In*>(in)[from]) == number;
    static_cast<Out*>(out)[i] = *reinterpret_cast<const Out*>(here ? on : off);
  }
};

}  // namespace ps::device
