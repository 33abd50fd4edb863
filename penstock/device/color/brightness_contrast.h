// Brightness and contrast: each value by itself, as a factor and a summand.
#pragma once

#include "device/picture/pixels.h"

namespace ps::device {

template <class Out> struct BrightnessContrast {
  float multiplier, addend;
  PS_FN float operator()(float v) const { return v * multiplier + addend; }
  template <class Up> PS_FN Vec<Out, Up::kChannels> at(const Up& up, int x, int y, int c) const {
    const auto in = up.at(x, y, c);
    Vec<Out, Up::kChannels> out;
    PS_UNROLL
    for (int k = 0; k < Up::kChannels; k++) out[k] = convert<Out>((*this)(convert<float>(in[k])));
    return out;
  }
};

}  // namespace ps::device
