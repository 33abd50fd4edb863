// Points under an affine map: the last axis holds coordinates.
#pragma once

#include "device/tensor/elements.h"

namespace ps::device {

struct CoordTransformFields {
  const void* in;
  void* out;
  const float* maps;                   // for each frame the matrix, row by row, each with its offset at the end
  int64_t points;                      // per map
  int32_t rows, columns;
};

template <class In, class Out> struct CoordTransform : CoordTransformFields {
  PS_FN void element(int64_t i) const {
    const int64_t point = i / rows;
    const In* from = static_cast<const In*>(in) + point * columns;
    const float* m = maps + (point / points * rows + (i - point * rows)) * (columns + 1);
    float sum = 0;
    for (int k = 0; k < columns; k++) sum = sum + m[k] * convert<float>(from[k]);
    static_cast<Out*>(out)[i] = convert<Out>(sum + m[columns]);
  }
};

}  // namespace ps::device
