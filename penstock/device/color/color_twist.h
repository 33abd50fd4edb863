// Hue, saturation, value, brightness and contrast: each pixel's three channels as linear functions of all three.
#pragma once

#include "device/picture/pixels.h"

namespace ps::device {

template <class Out> struct ColorTwist {
  float matrix[3][3];                  // of output channels, input channels
  float offset;
  PS_FN float channel(int k, float r, float g, float b) const {
    return matrix[k][0] * r + matrix[k][1] * g + matrix[k][2] * b + offset;
  }
  template <class Up> PS_FN Vec<Out, Up::kChannels> at(const Up& up, int x, int y, int c) const {
    constexpr int kChannels = Up::kChannels;
    float rgb[3];
    if constexpr (kChannels >= 3) {
      const auto in = up.at(x, y, 0);
      PS_UNROLL
      for (int k = 0; k < 3; k++) rgb[k] = convert<float>(in[k]);
    } else {                           // channels are read one by one
      PS_UNROLL
      for (int k = 0; k < 3; k++) rgb[k] = convert<float>(up.at(x, y, k)[0]);
    }
    Vec<Out, kChannels> out;
    PS_UNROLL
    for (int k = 0; k < kChannels; k++) out[k] = convert<Out>(channel(min(c + k, 2), rgb[0], rgb[1], rgb[2]));
    return out;
  }
};

}  // namespace ps::device
