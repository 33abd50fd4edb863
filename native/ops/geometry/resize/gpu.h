// The fields of the GPU's resampling (device/geometry/resize.h): the constants of ops/geometry/resize/taps.h for
// an axis. And the passes that resample volumes, which no stage of pictures can.
#pragma once

#include <string>
#include <vector>

#include "cuda/record/operator.h"
#include "device/geometry/resize/volume.h"
#include "ops/geometry/resize/taps.h"

namespace ps {

// Empty axes have no taps.
inline device::ResampledAxis resampled_axis(const ResampleAxis& axis) {
  device::ResampledAxis a{};
  const TapsGeometry g(axis);
  a.in = int32_t(axis.in);
  a.window = g.window;
  a.most = int32_t(std::min<int64_t>(g.window, axis.in));
  a.scale = g.scale;
  a.start = g.start;
  a.step = g.step;
  a.base = g.base;
  a.summed = axis.summed;
  switch (axis.filter) {
    case Interp::nearest: a.filter = device::Filter::nearest; break;
    case Interp::cubic: a.filter = device::Filter::cubic; break;
    case Interp::lanczos3: a.filter = device::Filter::lanczos3; break;
    case Interp::gaussian: a.filter = device::Filter::gaussian; break;
    default: a.filter = device::Filter::linear;
  }
  return a;
}

// Of a picture with so many channels, of bytes or else of other numbers.
inline device::ResampleFields resample_fields(const ResampleAxis& y, const ResampleAxis& x, int channels, bool bytes) {
  constexpr int kMostTaps = 40;        // more would be so light that 15 bits are too few
  const auto negative = [](Interp f) { return f == Interp::cubic || f == Interp::lanczos3; };
  device::ResampleFields f{resampled_axis(x), resampled_axis(y), channels, 0, 0};
  f.copies = x.filter == Interp::nearest && y.filter == Interp::nearest;
  f.whole = bytes && !negative(y.filter) && f.y.window <= kMostTaps;
  return f;
}

// One pass: what goes in and comes out, for each sample, and the axis that is resampled.
struct AxisPass {
  DType in_type, out_type;
  std::vector<const void*> in;
  std::vector<void*> out;
  std::vector<ResampleAxis> axes;
  std::vector<int64_t> outer, inner;   // elements before the axis, and behind it
};

inline void record_pass(gpu::Recorder& r, const AxisPass& pass) {
  using Fields = device::ResampleElementsFields;
  const std::string types = gpu::cpp_type(pass.in_type) + ", " + gpu::cpp_type(pass.out_type);
  const Functor functor =
      PS_FUNCTOR_TEMPLATE(ResampleElements, "geometry/resize/volume.h", uint8_t, uint8_t).of(types);
  size_t i = 0;
  r.elements(functor, [&](const Context&, void* to) {
    const size_t k = i++;
    const int64_t count = pass.outer[k] * pass.axes[k].out * pass.inner[k];
    if (count)
      *static_cast<Fields*>(to) = {pass.in[k], pass.out[k], resampled_axis(pass.axes[k]), int32_t(pass.axes[k].out),
                                   pass.inner[k]};
    return count;
  });
}

}  // namespace ps
