// Signals of one channel: tensors of one axis, or of which all others have the extent 1.
#pragma once

#include <string>

#include "core/operator.h"

namespace ps::audio {

inline void check_float(const Tensor& t) {
  if (t.dtype != DType::f32)
    fail(ErrorKind::type, std::string("the input is ") + name_of(t.dtype) + ": expected FLOAT");
}

inline int64_t signal_length(const Tensor& t) {
  const int64_t n = t.shape.volume();
  bool one = t.shape.ndim > 0;
  for (int i = 0; i < t.shape.ndim; i++) one = one && (t.shape[i] == 1 || t.shape[i] == n);
  if (!one)
    fail(ErrorKind::argument, "the input has the shape " + to_string(t.shape) + ": expected a signal of one channel");
  return n;
}

inline int power_of(const Spec& s) {
  const int64_t power = s.integer("power");
  if (power != 1 && power != 2)
    fail(ErrorKind::argument, "power=" + std::to_string(power) + ": expected 1, for magnitudes, or 2, for powers");
  return int(power);
}

}  // namespace ps::audio
