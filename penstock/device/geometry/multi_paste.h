// Parts of pictures pasted into others.
#pragma once

#include "device/tensor/elements.h"

namespace ps::device {

// A part of a picture: its first element, and where it goes.
struct PastedPart {
  const void* from;
  int64_t pitch;                       // elements from one row to the next
  int32_t x0, y0, x1, y1;              // of the output
};

struct MultiPasteFields {
  const PastedPart* parts;             // of the first frame, then of the next
  void* out;
  int64_t width, height, channels;
  int32_t count;                       // parts of a frame
};

template <class In, class Out> struct MultiPaste : MultiPasteFields {
  // The last part that has it is on top.
  PS_FN void element(int64_t i) const {
    const int64_t pixel = i / channels, channel = i - pixel * channels;
    const int64_t row = pixel / width, x = pixel - row * width;
    const int64_t frame = row / height, y = row - frame * height;
    Out value = Out(0.0f);
    PS_LOOP
    for (int32_t k = count; k-- > 0;) {
      const PastedPart& p = parts[frame * count + k];
      if (x < p.x0 || x >= p.x1 || y < p.y0 || y >= p.y1) continue;
      value = convert<Out>(static_cast<const In*>(p.from)[(y - p.y0) * p.pitch + (x - p.x0) * channels + channel]);
      break;
    }
    static_cast<Out*>(out)[i] = value;
  }
};

}  // namespace ps::device
