// Pictures and sequences of them as planes, one behind the other, of interleaved channels.
#pragma once

#include <string>

#include "core/error.h"
#include "core/tensor.h"
#include "ops/arguments/picture_layout.h"

namespace ps {

struct Planes {
  int64_t count = 1, height = 0, width = 0, channels = 1;        // channels: those behind the width
  int64_t per_frame = 1;                             // planes: as many as there are channels before the height
  int64_t frames = -1;                               // -1: it is no sequence
  Layout layout;
  int64_t elements() const { return height * width * channels; }  // of a plane
};

// HW, HWC, CHW, FHW, FHWC or FCHW; without a layout HW, HWC or FHWC by the number of axes. Fails for others.
inline Planes planes_of(const Tensor& t) {
  static constexpr const char* usual[] = {"HW", "HWC", "FHWC"};
  const int n = t.shape.ndim;
  Planes p;
  p.layout = !t.layout.empty() ? t.layout : n >= 2 && n <= 4 ? Layout(usual[n - 2]) : Layout();
  const std::string_view axes = p.layout.view();
  if (axes != "HW" && axes != "HWC" && axes != "CHW" && axes != "FHW" && axes != "FHWC" && axes != "FCHW")
    fail(ErrorKind::layout,
         "expected pictures or frames of them (HW, HWC, CHW, FHW, FHWC, FCHW), got " + shown_layout(t));
  const int y = p.layout.find('H'), c = p.layout.find('C');
  p.height = t.shape[y];
  p.width = t.shape[y + 1];
  if (c > y) p.channels = t.shape[c];
  if (c >= 0 && c < y) p.per_frame = t.shape[c];
  if (axes[0] == 'F') p.frames = t.shape[0];
  p.count = p.per_frame * (p.frames < 0 ? 1 : p.frames);
  return p;
}

}  // namespace ps
