// Signals at another rate: each sample is a sum of its neighbours, weighted by a sinc under a Hann window, which stands
// in a table and is interpolated linearly.
#pragma once

#include "device/audio/sample.h"
#include "device/base/divisor.h"

namespace ps::device {

inline constexpr int kSincSteps = 32;              // of the table, from one neighbour to the next
inline constexpr int kSincLanes = 8;               // sums that are added up in the end, for SIMD to have as many

// The table has a row for each step and one more, with a weight for each of `taps` neighbours: 2 * lobes of them, and
// zeros to a multiple of kSincLanes.
struct Sinc {
  const float* table;
  int32_t lobes, taps;
};

// Where sample `i` of the result lies in the signal.
struct SincPlace {
  int64_t first;                       // neighbour
  int32_t row;                         // of the table
  float part;                          // of the way to the next one
};
PS_FN SincPlace sinc_place(const Sinc& s, int64_t i, double scale) {
  const double at = double(i) * scale, floor = ::floor(at), step = (at - floor) * kSincSteps;
  const auto row = int32_t(step);
  return {int64_t(floor) - s.lobes + 1, row, float(step - row)};
}

PS_FN float sinc_sum(const float* a) {
  return ((a[0] + a[4]) + (a[2] + a[6])) + ((a[1] + a[5]) + (a[3] + a[7]));
}
// Of the sums by two rows of the table.
PS_FN float sinc_between(const float* near, const float* next, float part) {
  const float a = sinc_sum(near);
  return a + part * (sinc_sum(next) - a);
}

struct AudioResampleFields {
  const void* in;
  void* out;
  int64_t length;
  double scale;                        // samples of the signal for one of the result
  Sinc sinc;
  Divisor channels;
};

template <class In, class Out> struct AudioResampled : AudioResampleFields {
  PS_FN void element(int64_t i) const {
    const auto time = channels.quotient(uint64_t(i)), step = channels.number();
    const SincPlace place = sinc_place(sinc, int64_t(time), scale);
    const float* near = sinc.table + place.row * sinc.taps;
    const In* from = static_cast<const In*>(in) + (uint64_t(i) - time * step);
    float a[kSincLanes] = {}, b[kSincLanes] = {};
    if (place.first >= 0 && place.first + sinc.taps <= length && sinc.taps == 2 * sinc.lobes)
      add<true>(from + place.first * int64_t(step), near, place.first, a, b);
    else
      add<false>(from, near, place.first, a, b);
    static_cast<Out*>(out)[i] = sample_from_float<Out>(sinc_between(a, b, place.part));
  }

 private:
  // Adds up neighbours; `whole`: they are all there, and `from` points to the first one.
  template <bool whole> PS_FN void add(const In* from, const float* near, int64_t first, float* a, float* b) const {
    const auto step = int64_t(channels.number());
    PS_LOOP
    for (int j = 0; j < sinc.taps; j += kSincLanes, near += kSincLanes) {
      const Weights w = *reinterpret_cast<const Weights*>(near);
      const Weights next = *reinterpret_cast<const Weights*>(near + sinc.taps);
      PS_UNROLL
      for (int k = 0; k < kSincLanes; k++) {
        float v;
        if constexpr (whole) {
          v = sample_to_float(*from);
          from += step;
        } else {
          const int64_t at = first + j + k;
          v = at < 0 || at >= length || j + k >= 2 * sinc.lobes ? 0.0f : sample_to_float(from[at * step]);
        }
        a[k] = a[k] + v * w.at[k];
        b[k] = b[k] + v * next.at[k];
      }
    }
  }
  struct alignas(16) Weights {         // loaded by four at once: rows have a multiple of kSincLanes
    float at[kSincLanes];
  };
};

}  // namespace ps::device
