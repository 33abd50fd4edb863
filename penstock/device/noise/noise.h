// Noise on pictures: stages whose numbers belong to the elements of their input, so that a fused kernel, one by itself
// and the CPU draw the same for each.
#pragma once

#include "device/base/philox.h"
#include "device/picture/picture.h"

namespace ps::device {

// What they have in common. Elements are counted as they lie in memory.
struct NoiseFields {
  PhiloxSequence random;
  Strides stride;                      // of pictures
};

template <class T, class Noise, class Up>
PS_FN Vec<T, Up::kChannels> noisy(const Noise& noise, const Up& up, int x, int y, int c) {
  const auto in = up.at(x, y, c);
  const Strides& s = noise.stride;
  const int64_t first = int64_t(y) * s.y + x * s.x + c * s.c;
  Vec<T, Up::kChannels> out;
  PS_UNROLL
  for (int k = 0; k < Up::kChannels; k++) out[k] = noise(in[k], first + k * s.c);
  return out;
}

// One by itself, whatever the tensor's axes are.
template <class T, class Noise> struct Noisy {
  const T* in;
  T* out;
  Noise noise;
  PS_FN void element(int64_t i) const { out[i] = noise(in[i], i); }
};

// In what sums and products with a number of type T are done.
template <class T> struct Sum { using type = double; };
template <> struct Sum<uint8_t> { using type = float; };
template <> struct Sum<int8_t> { using type = float; };
template <> struct Sum<uint16_t> { using type = float; };
template <> struct Sum<int16_t> { using type = float; };
template <> struct Sum<half> { using type = float; };
template <> struct Sum<float> { using type = float; };

PS_FN float rounded_root(float v) {
#if defined(__CUDACC_RTC__)
  return __fsqrt_rn(v);
#else
  return std::sqrt(v);
#endif
}
PS_FN double rounded_root(double v) {
#if defined(__CUDACC_RTC__)
  return ::sqrt(v);
#else
  return std::sqrt(v);
#endif
}

PS_FN double whole_below(double v) {
#if defined(__CUDACC_RTC__)
  return ::floor(v);
#else
  return std::floor(v);
#endif
}

}  // namespace ps::device
