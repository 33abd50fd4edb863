// Where pixels are under a perspective map.
#pragma once

#include "device/geometry/sample.h"

namespace ps::device {

struct PerspectiveMap {
  const float* matrices;               // nine numbers of each frame
  int64_t step;                        // from one frame to the next
  int32_t there, invert, corner;       // there: as users give them, so that `invert` and `corner` count
  float parts;                         // of a pixel that positions are rounded to; 0: they are not

  PS_FN Position<2> position(int64_t frame, int x, int y) const {
    float m[9];
    for (int i = 0; i < 9; i++) m[i] = matrices[frame * step + i];
    if (there) complete(m, invert, corner);
    const float u = float(x), v = float(y), w = (m[6] * u + m[7] * v) + m[8];
    const float px = ((m[0] * u + m[1] * v) + m[2]) / w, py = ((m[3] * u + m[4] * v) + m[5]) / w;
    if (parts == 0) return {{px, py}};
    return {{even_half(px * parts) / parts, even_half(py * parts) / parts}};
  }

  // From positions of the output to those of the input, both with pixel (0, 0) at (0, 0).
  static PS_FN void complete(float* m, bool invert, bool corner) {
    if (invert) {
      double d[9], r[9];
      for (int i = 0; i < 9; i++) d[i] = m[i];
      for (int row = 0; row < 3; row++)
        for (int column = 0; column < 3; column++) {     // cofactors, transposed
          const int a = (column + 1) % 3, b = (column + 2) % 3, e = (row + 1) % 3, f = (row + 2) % 3;
          r[row * 3 + column] = d[a * 3 + e] * d[b * 3 + f] - d[a * 3 + f] * d[b * 3 + e];
        }
      const double determinant = d[0] * r[0] + d[1] * r[3] + d[2] * r[6];
      for (int i = 0; i < 9; i++) m[i] = determinant != 0 ? float(r[i] / determinant) : 0.0f;
    }
    if (!corner) return;
    for (int row = 0; row < 3; row++) m[row * 3 + 2] = (m[row * 3] * 0.5f + m[row * 3 + 1] * 0.5f) + m[row * 3 + 2];
    for (int row = 0; row < 2; row++)
      for (int column = 0; column < 3; column++) m[row * 3 + column] -= 0.5f * m[6 + column];
  }
};

}  // namespace ps::device
