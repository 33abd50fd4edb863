// Pictures from one colour space to another: each pixel by itself.
#pragma once

#include "device/base/color_spaces.h"
#include "device/picture/picture.h"
#include "device/tensor/elements.h"

namespace ps::device {

template <Space kFrom, Space kTo> struct ColorSpaces {
  template <class Up> PS_FN Vec<uint8_t, Up::kChannels> at(const Up& up, int x, int y, int c) const {
    constexpr int N = Up::kChannels;                 // read at a time: 1, or all
    float in[3], out[3];
    if constexpr (N >= 3) {
      const auto pixel = up.at(x, y, 0);
      PS_UNROLL
      for (int k = 0; k < channels_of(kFrom); k++) in[k] = convert<float>(pixel[k]);
    } else {
      PS_UNROLL
      for (int k = 0; k < channels_of(kFrom); k++) in[k] = convert<float>(up.at(x, y, k)[0]);
    }
    convert_color<kFrom, kTo>(in, out, [](float v) { return v; });
    Vec<uint8_t, N> pixel;
    PS_UNROLL
    for (int k = 0; k < N; k++) pixel[k] = convert<uint8_t>(out[min(c + k, channels_of(kTo) - 1)]);
    return pixel;
  }
};

// Alone, whatever the picture's axes are; element i is a pixel.
struct ColorSpaceFields {
  const uint8_t* in;
  uint8_t* out;
};
template <Space kFrom, Space kTo> struct ColorSpacePixels : ColorSpaceFields {
  PS_FN void element(int64_t i) const {
    float from[3], to[3];
    PS_UNROLL
    for (int k = 0; k < channels_of(kFrom); k++) from[k] = convert<float>(in[i * channels_of(kFrom) + k]);
    convert_color<kFrom, kTo>(from, to, [](float v) { return v; });
    PS_UNROLL
    for (int k = 0; k < channels_of(kTo); k++) out[i * channels_of(kTo) + k] = convert<uint8_t>(to[k]);
  }
};

}  // namespace ps::device
