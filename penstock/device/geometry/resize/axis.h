// The weights of separable resampling along one axis, computed where they are needed: the same numbers as those that
// ops/geometry/resize/taps.h has on the CPU, where the formulas are explained.
#pragma once

#include "device/base/convert.h"
#include "device/geometry/resize/filters.h"

namespace ps::device {

struct ResampledAxis {
  int32_t in;                          // samples of the input
  int32_t window;                      // taps, before those outside the input are added to its border
  int32_t most;                        // taps after that, at most
  Filter filter;
  int32_t summed;                      // nearest: positions are found by adding up the scale
  float scale, start, step, base;

  PS_FN float clamped(float i) const { return min(max(i, 0.0f), float(in - 1)); }
};

// The taps of one output sample: the sum over i from first to last of weight(i) * input[i].
class AxisTaps {
 public:
  int first, last;                     // zeros at the ends are left out
  int begin, end;                      // with them: these only rise along an axis (fall where it is mirrored)

  PS_FN AxisTaps(const ResampledAxis& axis, int x) : a_(axis) {
    if (a_.filter == Filter::nearest) {
      first = last = begin = end = int(a_.clamped(nearest(x)));
      return;
    }
    const float from = float(x) * a_.scale + a_.start, top = ceilf(from);
    shift_ = (top - from) * a_.step;
    top_ = int(top + a_.base);
    float sum = 0;
    PS_LOOP
    for (int k = 0; k < a_.window; k++) sum += raw(k);
    norm_ = 1 / sum;
    first = begin = int(a_.clamped(float(top_)));
    last = end = int(a_.clamped(float(top_ + a_.window - 1)));
    PS_LOOP
    while (last > first && weight(last) == 0) last--;
    PS_LOOP
    while (first < last && weight(first) == 0) first++;
  }

  PS_FN float weight(int i) const {
    if (a_.filter == Filter::nearest) return 1;
    // The input's border stands for all that lies beyond.
    const int low = i == 0 ? 0 : max(0, i - top_), high = i == a_.in - 1 ? a_.window - 1 : min(a_.window - 1, i - top_);
    float sum = 0;
    PS_LOOP
    for (int k = low; k <= high; k++) sum += raw(k) * norm_;
    return sum;
  }

 private:
  PS_FN float raw(int k) const { return filter_at(a_.filter, float(k) * a_.step + shift_); }

  PS_FN float nearest(int x) const {
    if (!a_.summed) return floorf((float(x) + 0.5f) * a_.scale + a_.start);
    float sum = a_.start;
    PS_LOOP
    for (int i = 0; i < x; i++) sum += a_.scale;
    return floorf(sum) + a_.base;
  }

  const ResampledAxis& a_;
  float shift_ = 0, norm_ = 1;
  int top_ = 0;
};

// Weights as integers, in turn: they add up to 2^15, because not they but their sums are rounded. (Errors of neighbours
// cancel, and flat areas stay flat.)
class WholeWeights {
 public:
  static constexpr int kOne = 1 << 15;
  PS_FN uint32_t next(float weight, bool last) {
    sum_ += weight;
    const int now = last ? kOne : min(kOne, int(add_half(sum_ * float(kOne))));
    const uint32_t whole = uint32_t(max(0, now - before_));
    before_ += int(whole);
    return whole;
  }

 private:
  float sum_ = 0;
  int before_ = 0;
};

}  // namespace ps::device
