// Stages whose functors come from others' libraries (include/penstock/operator.h): they see floats, and know nothing of
// types, layouts or kernels.
#pragma once

#include "device/picture/pixels.h"

// What such functors are written with.
#if defined(__CUDACC_RTC__)
#define PENSTOCK_FN __device__ __forceinline__
#elif defined(PS_SOFTWARE_GPU)
#define PENSTOCK_FN inline
#define __device__
#endif

namespace ps::device {

// Each element by itself: float operator()(float) const.
template <class Out, class F> struct CustomElement {
  F functor;
  template <class Up> PS_FN Vec<Out, Up::kChannels> at(const Up& up, int x, int y, int c) const {
    const auto in = up.at(x, y, c);
    Vec<Out, Up::kChannels> out;
    PS_UNROLL
    for (int k = 0; k < Up::kChannels; k++) out[k] = convert<Out>(functor(convert<float>(in[k])));
    return out;
  }
};

// Pixels of N channels: void operator()(const float* from, float* to) const.
template <class Out, int N, class F> struct CustomPixel {
  F functor;
  template <class Up> PS_FN Vec<Out, Up::kChannels> at(const Up& up, int x, int y, int c) const {
    constexpr int kChannels = Up::kChannels;
    float from[N], to[N];
    if constexpr (kChannels >= N) {
      const auto in = up.at(x, y, 0);
      PS_UNROLL
      for (int k = 0; k < N; k++) from[k] = convert<float>(in[k]);
    } else {                           // channels are read one by one
      PS_UNROLL
      for (int k = 0; k < N; k++) from[k] = convert<float>(up.at(x, y, k)[0]);
    }
    functor(static_cast<const float*>(from), to);
    Vec<Out, kChannels> out;
    PS_UNROLL
    for (int k = 0; k < kChannels; k++) out[k] = convert<Out>(to[min(c + k, N - 1)]);
    return out;
  }
};

}  // namespace ps::device
