// Pixels of one type as those of another: full scale becomes full scale, and a float's is 1. As bytes, 16-bit integers
// and floats are what files hold, these are what it is done from.
#pragma once

#include "device/base/convert.h"
#include "device/base/color_spaces.h"

namespace ps::device {

template <class T> PS_FN constexpr double full_scale() {
  if constexpr (is_real<T>) return 1;
  else return double(Limits<T>::max);
}

// What a file's float is to an integer's full scale: nothing beyond it, and not-a-number is black.
template <class T> PS_FN T within_scale(T v) {
  if constexpr (is_real<T>) return min(max(T(0), v), T(1));
  else return v;
}

// The nearest T to a value that is at least 0.
template <class T> PS_FN T nearest(double v) {
  if constexpr (is_real<T>) return T(v);
  else return T(min(v + 0.5, full_scale<T>()));
}

template <class To, class From> PS_FN To rescale(From v) {
  if constexpr (is_same<To, From>) return v;
  else if constexpr (is_real<To>) return To(v) * To(1 / full_scale<From>());
  // 32-bit integers come from a float: more digits than the file's 8 or 16 bits would be made up anyway.
  else if constexpr (sizeof(To) == 4)
    return nearest<To>(double(float(within_scale(v)) * float(1 / full_scale<From>())) *
                       (is_signed<To> ? 0x1p31 : 0x1p32));
  else return nearest<To>(double(within_scale(v)) * (full_scale<To>() / full_scale<From>()));
}

// A pixel of RGB to YCbCr (ITU-R BT.601, as in video).
template <class To, class From> PS_FN void rescale_to_ycbcr(const From* rgb, To* to) {
  constexpr bool whole = !is_real<To>;
  constexpr auto scale = float(full_scale<To>() / full_scale<From>());
  constexpr auto offsets = whole ? float((full_scale<To>() + 1) / 256) : 1 / 256.0f;
  float in[3], out[3];
  for (int c = 0; c < 3; c++) in[c] = float(whole ? within_scale(rgb[c]) : rgb[c]) * scale;
  for (int c = 0; c < 3; c++) {
    const float* w = kYcbcrFromRgb[c];
    out[c] = w[0] * in[0] + w[1] * in[1] + w[2] * in[2] + w[3] * offsets;
  }
  for (int c = 0; c < 3; c++) {
    if constexpr (!whole) to[c] = out[c];
    else if constexpr (sizeof(To) == 4) to[c] = nearest<To>(double(out[c]));
    else to[c] = To(int32_t(out[c] + 0.5f));       // 16..240 of 255: never out of range
  }
}

}  // namespace ps::device
