// Sums of neighbours on one axis, weighted: filter banks and cosine transforms.
#pragma once

#include "device/base/divisor.h"

namespace ps::device {

// What one number of the output is made of: `weights` from `at` on, one for each index from begin to end.
struct Band {
  int32_t begin, end, at;
  float scale;                         // of the sum
};

struct BandSums {
  const float *in, *weights;
  float* out;
  const Band* bands;
  Divisor inner, count;                // elements from one index to the next; bands
  int64_t extent;                      // of the input on the axis

  PS_FN void element(int64_t i) const {
    const uint64_t above = inner.quotient(uint64_t(i)), outer = count.quotient(above);
    const Band band = bands[above - outer * count.number()];
    const auto step = int64_t(inner.number());
    const float* from = in + int64_t(outer) * extent * step + (i - int64_t(above) * step);
    float sum = 0;
    for (int32_t k = band.begin; k < band.end; k++) sum = sum + weights[band.at + k - band.begin] * from[k * step];
    out[i] = sum * band.scale;
  }
};

}  // namespace ps::device
