// Elements normalized by a mean and a standard deviation, of which there is one for each index on some of the axes.
#pragma once

#include "device/tensor/reductions.h"

namespace ps::device {

// (x - mean) * scale + shift. What the mean loses as a float is in `shift`.
struct NormalizeTerms {
  float mean, scale, shift;
};

struct Normalization {
  double scale, shift, epsilon;
  int64_t ddof;

  // `spread` is the standard deviation, or the sum of `count` squared deviations.
  PS_FN NormalizeTerms terms(double mean, double spread, bool is_stddev, int64_t count) const {
    double variance = is_stddev ? spread * spread : count > ddof ? spread / double(count - ddof) : 0.0;
    variance += epsilon;
    double factor = scale / Sqrt::of(variance);
    if (is_stddev && epsilon == 0) factor = scale / spread;
    if (!is_stddev && variance == 0) factor = 0;         // all elements are the mean
    NormalizeTerms t{float(mean), float(factor), float(shift)};
    const auto with_lost = float(shift + (double(t.mean) - mean) * factor);
    if (with_lost - with_lost == 0) t.shift = with_lost;                   // it is finite
    return t;
  }
};

PS_FN float normalized(float v, const NormalizeTerms& t) { return (v - t.mean) * t.scale + t.shift; }

// An element is what one output of a reduction is here. A step is 0 where all share a number.
struct MakeNormalizeTerms {
  const double *mean, *spread;
  int64_t mean_step, spread_step, count;
  NormalizeTerms* out;
  Normalization how;
  int64_t is_stddev;

  PS_FN void element(int64_t i) const {
    out[i] = how.terms(mean[i * mean_step], spread[i * spread_step], is_stddev != 0, count);
  }
};

// Axes stand innermost first; strides count terms, and are 0 on axes that are reduced.
template <int N> struct NormalizeAxesBase {
  const void* in;
  void* out;
  const NormalizeTerms* terms;
  ReduceAxis axes[N];
};

template <class From, class To, int N> struct NormalizeAxes : NormalizeAxesBase<N> {
  PS_FN void element(int64_t i) const {
    auto rest = uint64_t(i);
    int64_t at = 0;
    PS_UNROLL
    for (int k = 0; k < N; k++) {
      uint64_t above = 0;              // the last axis takes what is left
      if (k < N - 1) above = this->axes[k].extent.quotient(rest);
      at += int64_t(rest - above * this->axes[k].extent.number()) * this->axes[k].stride;
      rest = above;
    }
    static_cast<To*>(this->out)[i] =
        convert<To>(normalized(convert<float>(static_cast<const From*>(this->in)[i]), this->terms[at]));
  }
};

}  // namespace ps::device
