// Boxes of a tensor overwritten with a colour.
#pragma once

#include "device/base/divisor.h"
#include "device/picture/picture.h"
#include "device/tensor/elements.h"

namespace ps::device {

inline constexpr int kErasedBoxes = 4, kErasedChannels = 4;        // at most, in a stage

template <class T> struct EraseStage {
  int32_t count;
  Rect boxes[kErasedBoxes];
  alignas(8) unsigned char fills[kErasedChannels * 8];             // of type T
  template <class Up> PS_FN auto at(const Up& up, int x, int y, int c) const {
    auto pixel = up.at(x, y, c);
    bool inside = false;
    PS_UNROLL
    for (int i = 0; i < kErasedBoxes; i++) {
      const Rect& b = boxes[i];
      inside = inside || (i < count && x >= b.x0 && x < b.x1 && y >= b.y0 && y < b.y1);
    }
    if (inside) {
      PS_UNROLL
      for (int k = 0; k < Up::kChannels; k++)
        pixel[k] = reinterpret_cast<const T*>(fills)[min(c + k, kErasedChannels - 1)];
    }
    return pixel;
  }
};

// Any number of boxes along any axes; all of the output was the input before. `begin` and `extent` have `axes` numbers
// for each box. Element i is one of the boxes', which lie one behind the other.
struct EraseFields {
  void* out;
  const int64_t *begin, *extent, *first;             // first[b]: the first element of box b
  const int64_t* stride;                             // of the output's axes
  const void* fills;                                 // one for each channel
  int32_t boxes, axes, channel_axis;                 // -1: all are channel 0
};
template <class T> struct EraseBoxes : EraseFields {
  PS_FN void element(int64_t i) const {
    int b = 0;
    while (b + 1 < boxes && first[b + 1] <= i) b++;
    int64_t rest = i - first[b], at = 0, channel = 0;
    PS_LOOP
    for (int k = axes - 1; k >= 0; k--) {
      const int64_t extents = extent[b * axes + k], above = rest / extents;
      const int64_t index = begin[b * axes + k] + (rest - above * extents);
      rest = above;
      if (k == channel_axis) channel = index;
      at += index * stride[k];
    }
    static_cast<T*>(out)[at] = static_cast<const T*>(fills)[channel];
  }
};

}  // namespace ps::device
