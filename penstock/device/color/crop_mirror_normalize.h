// crop_mirror_normalize: as a stage of pictures (device/picture/picture.h), and for each element by itself.
#pragma once

#include "device/picture/picture.h"
#include "device/gather/gather.h"

namespace ps::device {

// The product is never rounded and added to another number: the shift is 0, or else the scale is (see Normalization in
// ops/color/crop_mirror_normalize/rows.h). So this is what the CPU computes, however it does.
PS_FN float normalized(float v, float mean, float scale, float shift) { return fma(v - mean, scale, shift); }

inline constexpr int kNormalizedChannels = 4;        // at most, in a stage

template <class To> struct NormalizeStage {
  int32_t x, y, step_x;                // which pixel of the input is the first one, and where the next one is
  int32_t channels;                    // of the input; the output's others are filled
  float mean[kNormalizedChannels], scale[kNormalizedChannels], shift[kNormalizedChannels];
  alignas(4) unsigned char fills[kNormalizedChannels * 4];     // of type To

  PS_FN Rect region(const Rect& r) const { return window_region(r, x, y, step_x, 1); }
  template <class Up> PS_FN auto at(const Up& up, int ox, int oy, int c) const {
    Vec<To, Up::kChannels> pixel;
    if (c > 0 && c >= channels) {
      PS_UNROLL
      for (int i = 0; i < Up::kChannels; i++)
        pixel[i] = reinterpret_cast<const To*>(fills)[Up::kChannels == 1 ? c : kNormalizedChannels - 1];
      return pixel;
    }
    const auto from = up.at(x + ox * step_x, y + oy, c);
    const int first = Up::kChannels == 1 ? c : 0;              // where there are more, they are all
    PS_UNROLL
    for (int i = 0; i < Up::kChannels; i++) {
      const int k = first + i;
      pixel[i] = convert<To>(normalized(convert<float>(from[i]), mean[k], scale[k], shift[k]));
    }
    return pixel;
  }
};

template <class From, class To, int N> struct NormalizeElements : GatherBase<N> {
  PS_FN void element(int64_t i) const {
    int64_t c;
    const GatherHead& h = this->head;
    const int64_t at = this->find(i, c);
    To* to = static_cast<To*>(h.out) + i;
    if (at < 0) *to = static_cast<const To*>(h.fills)[c];
    else
      *to = convert<To>(
          normalized(convert<float>(static_cast<const From*>(h.in)[at]), h.mean[c], h.scale[c], h.shift[c]));
  }
};

}  // namespace ps::device
