// Resampling along one axis of anything, element by element: volumes take three of these.
#pragma once

#include "device/geometry/resize.h"
#include "device/tensor/elements.h"

namespace ps::device {

struct ResampleElementsFields {
  const void* in;
  void* out;
  ResampledAxis axis;
  int32_t length;                      // of the axis, in the output
  int64_t inner;                       // elements from one sample along the axis to the next
};

template <class In, class Out> struct ResampleElements : ResampleElementsFields {
  PS_FN void element(int64_t i) const {
    const int64_t row = i / inner, outer = row / length;
    const AxisTaps taps(axis, int(row - outer * length));
    const In* from = static_cast<const In*>(in) + (outer * axis.in + taps.first) * inner + (i - row * inner);
    float sum = 0;
    PS_LOOP
    for (int k = taps.first; k <= taps.last; k++, from += inner) sum = fma(taps.weight(k), float(*from), sum);
    static_cast<Out*>(out)[i] = nearest<Out>(sum);
  }
};

}  // namespace ps::device
