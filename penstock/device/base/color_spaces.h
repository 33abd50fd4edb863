// Colour spaces of pictures of bytes. All of it is float32 in this order, rounded half up, so that CPUs and GPUs agree
// bit for bit. YCbCr is that of video, ITU-R BT.601: luma from 16 to 235.
#pragma once

#include "device/base/base.h"

namespace ps::device {

// The numbers are those of DALI's DALIImageType.
enum class Space { rgb, bgr, gray, ycbcr };

PS_FN constexpr int channels_of(Space s) { return s == Space::gray ? 1 : 3; }

// Weights of R, G and B, and the offset.
inline constexpr float kYcbcrFromRgb[3][4] = {
    {float(0.299 * 219 / 255), float(0.587 * 219 / 255), float(0.114 * 219 / 255), 16},
    {float(-0.299 / 1.772 * 224 / 255), float(-0.587 / 1.772 * 224 / 255), float(0.5 * 224 / 255), 128},
    {float(0.5 * 224 / 255), float(-0.587 / 1.402 * 224 / 255), float(-0.114 / 1.402 * 224 / 255), 128},
};
// Weights of Y - 16, Cb - 128 and Cr - 128.
inline constexpr float kRgbFromYcbcr[3][3] = {
    {float(255.0 / 219), 0, float(255.0 / 224 * 1.402)},
    {float(255.0 / 219), float(-255.0 / 224 * 0.114 * 1.772 / 0.587), float(-255.0 / 224 * 0.299 * 1.402 / 0.587)},
    {float(255.0 / 219), float(255.0 / 224 * 1.772), 0},
};
// Luma's weights in whole numbers: sums are exact.
inline constexpr float kLuma[3] = {9798, 19235, 3735}, kLumaScale = 0x1p-15f;
inline constexpr float kGrayFromY = float(255.0 / 219), kYFromGray = float(219.0 / 255);

// One pixel, not yet rounded. F: a float, or a vector of them that `set` makes of one.
template <Space kFrom, Space kTo, class F, class Set> PS_FN void convert_color(const F* in, F* out, Set set) {
  if constexpr (kFrom == kTo) {
    for (int k = 0; k < channels_of(kTo); k++) out[k] = in[k];
  } else if constexpr (kTo == Space::bgr) {          // as RGB, the other way round
    F rgb[3];
    convert_color<kFrom, Space::rgb>(in, rgb, set);
    out[0] = rgb[2], out[1] = rgb[1], out[2] = rgb[0];
  } else if constexpr (kFrom == Space::bgr) {
    const F rgb[3] = {in[2], in[1], in[0]};
    convert_color<Space::rgb, kTo>(rgb, out, set);
  } else if constexpr (kFrom == Space::rgb && kTo == Space::gray) {
    out[0] = (set(kLuma[0]) * in[0] + set(kLuma[1]) * in[1] + set(kLuma[2]) * in[2]) * set(kLumaScale);
  } else if constexpr (kFrom == Space::rgb) {        // to YCbCr
    PS_UNROLL
    for (int k = 0; k < 3; k++) {
      const float* w = kYcbcrFromRgb[k];
      out[k] = set(w[0]) * in[0] + set(w[1]) * in[1] + set(w[2]) * in[2] + set(w[3]);
    }
  } else if constexpr (kFrom == Space::gray && kTo == Space::rgb) {
    out[0] = out[1] = out[2] = in[0];
  } else if constexpr (kFrom == Space::gray) {
    out[0] = set(kYFromGray) * in[0] + set(16);
    out[1] = out[2] = set(128);
  } else if constexpr (kTo == Space::gray) {         // from YCbCr
    out[0] = set(kGrayFromY) * (in[0] - set(16));
  } else {
    const F y = in[0] - set(16), cb = in[1] - set(128), cr = in[2] - set(128);
    PS_UNROLL
    for (int k = 0; k < 3; k++) {
      const float* w = kRgbFromYcbcr[k];
      out[k] = set(w[0]) * y + set(w[1]) * cb + set(w[2]) * cr;
    }
  }
}

}  // namespace ps::device
