// The conversions of crop and slice, as ops/arguments/truncate.cpp has them for the CPU: fractions are truncated, and
// floats saturate too, at the largest finite value.
#pragma once

#include "device/base/convert.h"

namespace ps::device {

PS_FN float no_fraction(float v) { return truncf(v); }
PS_FN double no_fraction(double v) { return trunc(v); }

template <class T> PS_FN T within(T v, T limit) { return v < -limit ? -limit : v > limit ? limit : v; }

template <class To, class From> PS_FN To truncate(From v) {
  constexpr bool plain = is_same<From, To> || is_same<From, bool> || is_same<To, bool>;
  if constexpr (plain) return convert<To>(v);
  else if constexpr (is_same<From, half> && !is_real<To>) return convert<To>(no_fraction(float(v)));
  else if constexpr (is_real<From> && !is_real<To>) return convert<To>(no_fraction(v));
  else if constexpr (is_same<To, half>) return convert<half>(within(convert<float>(v), 65504.0f));
  else if constexpr (is_same<To, float> && is_same<From, double>) return float(within(v, double(0x1.fffffep127f)));
  else return convert<To>(v);
}

}  // namespace ps::device
