// Matrices of rotations.
#pragma once

#include <cmath>
#include <numbers>
#include <string>

#include "core/error.h"

namespace ps {

inline float in_radians(float degrees) { return degrees * (std::numbers::pi_v<float> / 180); }

// Of the plane: two rows.
inline void rotation_matrix(float angle, float* m) {
  const float c = std::cos(angle), s = std::sin(angle);
  m[0] = c, m[1] = -s, m[2] = s, m[3] = c;
}

// About an axis of space, of any length: three rows, by Rodrigues' formula, with DALI's roundings; and as there, an
// angle of 0 turns nothing by a last bit.
inline void rotation_matrix(float angle, const float* axis, float* m) {
  const float length = std::sqrt(axis[0] * axis[0] + axis[1] * axis[1] + axis[2] * axis[2]);
  if (!(length > 0) || !std::isfinite(length))
    fail(ErrorKind::argument, "axis is no direction: (" + std::to_string(axis[0]) + ", " + std::to_string(axis[1]) +
                                  ", " + std::to_string(axis[2]) + ")");
  if (angle == 0) {
    for (int i = 0; i < 9; i++) m[i] = i % 4 == 0 ? 1.0f : 0.0f;
    return;
  }
  const float x = axis[0] / length, y = axis[1] / length, z = axis[2] / length;
  const float c = std::cos(angle), s = std::sin(angle), rest = 1 - c;
  m[0] = x * x + (y * y + z * z) * c, m[1] = x * y * rest - z * s, m[2] = x * z * rest + y * s;
  m[3] = x * y * rest + z * s, m[4] = y * y + (x * x + z * z) * c, m[5] = y * z * rest - x * s;
  m[6] = x * z * rest - y * s, m[7] = y * z * rest + x * s, m[8] = z * z + (x * x + y * y) * c;
}

}  // namespace ps
