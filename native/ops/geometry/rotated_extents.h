// How large a picture is when it is turned.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "ops/geometry/rotation_matrix.h"

namespace ps {

inline constexpr float kCanvasSlack = 1e-2f;         // roundings are not to add a pixel

// An odd extent stays odd and an even one even, so that pixels stay pixels at multiples of 90 degrees; extents that
// change places take that along.
inline int64_t with_parity_of(int64_t extent, int64_t of) { return extent + ((extent ^ of) & 1); }

// Of a picture, width, then height: the least extents, and those of the input whose parities they are to have.
inline void rotated_extents(float radians, const int64_t* in, int64_t* least, int64_t* like) {
  float m[4];
  rotation_matrix(radians, m);
  const float cosine = std::fabs(m[0]), sine = std::fabs(m[2]);
  const auto extent = [&](int64_t a, int64_t b) {
    return int64_t(std::max(std::ceil(cosine * float(a) + sine * float(b) - kCanvasSlack), 0.0f));
  };
  const double exact = radians;                      // at 45 degrees, the float's last bit decides
  const bool swapped = std::fabs(std::sin(exact)) > std::fabs(std::cos(exact));
  least[0] = extent(in[0], in[1]), like[0] = in[swapped ? 1 : 0];
  least[1] = extent(in[1], in[0]), like[1] = in[swapped ? 0 : 1];
}
inline void rotated_extents(float radians, const int64_t* in, int64_t* out) {
  int64_t like[2];
  rotated_extents(radians, in, out, like);
  for (int i = 0; i < 2; i++) out[i] = with_parity_of(out[i], like[i]);
}

}  // namespace ps
