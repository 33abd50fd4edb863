// Which tensors device/picture/picture.h takes for pictures: height next to width, channels last or before both, and
// whatever comes before as frames.
#pragma once

#include <optional>

#include "core/tensor.h"
#include "device/picture/picture.h"

namespace ps::gpu {

struct Pictures {
  device::Strides stride{};
  int64_t width = 0, height = 0, channels = 1, frames = 1;
  int y_axis = -1, x_axis = -1, c_axis = -1;        // which of the tensor's; c_axis -1: it has no channels
  bool interleaved() const { return stride.c == 1 && stride.x == channels; }
};

inline std::optional<Pictures> pictures_of(const Tensor& t) {
  Layout layout = t.layout;
  const int n = t.shape.ndim;
  if (layout.empty()) layout = n == 3 ? "HWC" : n == 4 ? "FHWC" : n == 5 ? "FDHWC" : "";
  const int h = layout.find('H'), w = layout.find('W'), c = layout.find('C');
  if (int(layout.view().size()) != n || h < 0 || w != h + 1) return std::nullopt;
  if (n > w + (c == n - 1 ? 2 : 1)) return std::nullopt;          // nothing but channels behind the width
  int64_t step[kMaxDims] = {}, size = 1;
  for (int i = n; i-- > 0; size *= t.shape[i]) step[i] = size;
  Pictures p;
  p.y_axis = h, p.x_axis = w, p.c_axis = c;
  p.width = t.shape[w];
  p.height = t.shape[h];
  p.channels = c < 0 ? 1 : t.shape[c];
  if (p.width * step[w] + p.height * step[h] + (c < 0 ? 0 : p.channels * step[c]) > INT32_MAX) return std::nullopt;
  p.stride.x = int32_t(step[w]);
  p.stride.y = int32_t(step[h]);
  p.stride.c = c < 0 ? 1 : int32_t(step[c]);
  p.stride.frame = t.shape.volume();
  for (int i = h, last = -1; i-- > 0;) {
    if (i == c) continue;
    if (last >= 0 && last != i + 1) return std::nullopt;          // the channels stand between two axes of frames
    if (last < 0) p.stride.frame = step[i];
    p.frames *= t.shape[i];
    last = i;
  }
  return p;
}

}  // namespace ps::gpu
