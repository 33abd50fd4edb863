// Sums of second derivatives: windows along one axis after the other.
#pragma once

#include "device/base/border.h"
#include "device/base/divisor.h"
#include "device/tensor/elements.h"

namespace ps::device {

// One axis, element by element. What a derivative's last axis gives is added to what others have given, and the last
// derivative's is the result.
struct LaplacianFields {
  const void* in;
  void* out;
  const float *weights, *scales;       // 2 * radius + 1 of each frame; of the last axis, a derivative's of each frame
  const float* sum;                    // none: 0
  int32_t radius;
  Divisor inner, length, frame;        // elements from one place on the axis to the next; places; elements of a frame
};

template <class In, class Out> struct LaplacianAxis : LaplacianFields {
  PS_FN void element(int64_t i) const {
    const In* p = static_cast<const In*>(in) + i;
    const auto step = int64_t(inner.number()), n = int64_t(length.number());
    const auto row = inner.quotient(uint64_t(i));
    const auto at = int64_t(row - length.quotient(row) * length.number());
    const auto number = int64_t(frame.quotient(uint64_t(i)));
    const float* w = weights + number * (2 * radius + 1) + radius;
    const float before = sum ? sum[i] : 0, scale = scales ? scales[number] : 1;
    float total = scale == 1 ? before : 0;         // the scale comes last, which decides how sums are rounded
    PS_LOOP
    for (int k = -radius; k <= radius; k++)
      if (w[k] != 0) total += w[k] * convert<float>(p[(mirrored_101(at + k, n) - at) * step]);
    static_cast<Out*>(out)[i] = convert<Out>(scale == 1 ? total : before + total * scale);
  }
};

}  // namespace ps::device
