// Windows that weigh neighbours by a Gaussian, one axis after the other.
#pragma once

#include "device/base/divisor.h"
#include "device/tensor/elements.h"

namespace ps::device {

// One axis, element by element, with the sums of ops/filter/gaussian_blur/rows.h.
struct BlurFields {
  const void* in;
  void* out;
  const float* weights;                // of the middle, and of what is 1, 2 ... places from it; of each frame
  const int32_t* radii;                // of each frame
  int64_t step;                        // weights from one frame to the next
  Divisor inner, length, frame;        // elements from one place on the axis to the next; places; elements of a frame
};

template <class In, class Out> struct BlurAxis : BlurFields {
  PS_FN void element(int64_t i) const {
    const In* p = static_cast<const In*>(in) + i;
    const auto step = int64_t(inner.number()), n = int64_t(length.number());
    const auto row = inner.quotient(uint64_t(i));
    const auto at = int64_t(row - length.quotient(row) * length.number());
    const auto f = int64_t(frame.quotient(uint64_t(i)));
    const float* weights = this->weights + f * this->step;
    const int32_t radius = radii[f];
    float sum = weights[0] * convert<float>(*p);
    if (at >= radius && at + radius < n) {
      PS_LOOP
      for (int k = 1; k <= radius; k++)
        sum += weights[k] * (convert<float>(p[-k * step]) + convert<float>(p[k * step]));
    } else {
      PS_LOOP
      for (int k = 1; k <= radius; k++)
        sum += weights[k] * (convert<float>(p[(mirrored(at - k, n) - at) * step]) +
                             convert<float>(p[(mirrored(at + k, n) - at) * step]));
    }
    static_cast<Out*>(out)[i] = convert<Out>(sum);
  }

 private:
  static PS_FN int64_t mirrored(int64_t i, int64_t n) {
    if (n == 1) return 0;
    const int64_t period = 2 * n - 2;
    i = (i % period + period) % period;
    return min(i, period - i);
  }
};

}  // namespace ps::device
