// Samples of sound as floats from -1 to 1, and back. Unsigned ones have their zero in the middle.
#pragma once

#include "device/base/convert.h"

namespace ps::device {

template <class T> PS_FN float sample_to_float(T v) {
  if constexpr (is_real<T>) return float(v);
  else if constexpr (is_signed<T>) return float(v) * (1.0f / float(Limits<T>::max));
  else return float(v) * (2.0f / float(Limits<T>::max)) - 1.0f;
}

template <class T> PS_FN T sample_from_float(float v) {
  if constexpr (is_real<T>) return T(v);
  else if constexpr (is_signed<T>) return convert<T>(v * float(Limits<T>::max));
  else return convert<T>((v + 1.0f) * (0.5f * float(Limits<T>::max)));
}

}  // namespace ps::device
