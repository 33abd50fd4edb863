// Signals at another rate: each sample is a sum of its neighbours, weighted by a sinc under a Hann window, which stands
// in a table and is interpolated linearly.
#pragma once

#include "device/audio/sample.h"

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
  int64_t length, channels;
  double scale;                        // samples of the signal for one of the result
  Sinc sinc;
};

template <class In, class Out> struct AudioResampled : AudioResampleFields {
  PS_FN void element(int64_t i) const {
    const int64_t time = i / channels, channel = i - time * channels;
    const SincPlace place = sinc_place(sinc, time, scale);
    const float* near = sinc.table + place.row * sinc.taps;
    float a[kSincLanes] = {}, b[kSincLanes] = {};
    for (int j = 0; j < sinc.taps; j += kSincLanes) {
      PS_UNROLL
      for (int k = 0; k < kSincLanes; k++) {
        const int64_t at = place.first + j + k;
        const float v = at < 0 || at >= length || j + k >= 2 * sinc.lobes
                            ? 0.0f : sample_to_float(static_cast<const In*>(in)[at * channels + channel]);
        a[k] = a[k] + v * near[j + k];
        b[k] = b[k] + v * near[sinc.taps + j + k];
      }
    }
    static_cast<Out*>(out)[i] = sample_from_float<Out>(sinc_between(a, b, place.part));
  }
};

}  // namespace ps::device
