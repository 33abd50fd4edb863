// Resampling of pictures and volumes in memory, whatever their layout: outer axes (frames, planes of channels), two or
// three axes of space, interleaved channels.
#pragma once

#include <vector>

#include "core/memory.h"
#include "ops/geometry/resize/stage.h"
#include "rows/memory_rows.h"

namespace ps {

class Resampler {
 public:
  ResizeStage stage;

  // axes: height and width.
  void picture(const ResampleAxis* axes, int channels, const void* in, DType in_type, void* out, DType out_type) {
    const RowFormat format{axes[1].in, axes[0].in, channels, in_type};
    stage.begin({axes[1], axes[0]}, format, out_type);
    MemorySink sink(out, stage.out);
    stage.next = &sink;
    stage.demand(sink.window());
    stage.resample(in, int64_t(format.pixel_bytes()) * format.width);
  }

  // axes: depth, height and width. Slices are resampled as pictures and then blended.
  void volume(const ResampleAxis* axes, int channels, const void* in, DType in_type, void* out, DType out_type,
              Arena& scratch) {
    depth_.build(axes[0]);
    const auto* from = static_cast<const uint8_t*>(in);
    auto* to = static_cast<uint8_t*>(out);
    const size_t in_bytes = size_t(axes[1].in * axes[2].in * channels) * size_of(in_type);
    const int64_t slice = axes[1].out * axes[2].out * channels;
    const size_t out_bytes = size_t(slice) * size_of(out_type);
    if (depth_.copies) {
      for (int64_t z = 0; z < axes[0].out; z++) {
        const uint8_t* one = from + size_t(depth_.first[size_t(z)]) * in_bytes;
        picture(axes + 1, channels, one, in_type, to + size_t(z) * out_bytes, out_type);
      }
      return;
    }
    const int64_t count = depth_.count;
    auto* slices = static_cast<float*>(scratch.take(size_t(slice * count) * sizeof(float)));
    held_.assign(size_t(count), -1);   // which slice of the input is where
    rows_.resize(size_t(count));
    for (int64_t z = 0; z < axes[0].out; z++) {
      const int n = depth_.n[size_t(z)];
      for (int k = 0; k < n; k++) {
        const int64_t wanted = depth_.first[size_t(z)] + k, at = wanted % count;
        float* place = slices + at * slice;
        if (held_[size_t(at)] != wanted) {
          picture(axes + 1, channels, from + size_t(wanted) * in_bytes, in_type, place, DType::f32);
          held_[size_t(at)] = wanted;
        }
        rows_[size_t(k)] = place;
      }
      const float* w = &depth_.weight[size_t(z * count)];
      void* result = to + size_t(z) * out_bytes;
      switch (out_type) {
        case DType::u8: blend_rows(rows_.data(), w, n, static_cast<uint8_t*>(result), slice); break;
        case DType::i16: blend_rows(rows_.data(), w, n, static_cast<int16_t*>(result), slice); break;
        case DType::u16: blend_rows(rows_.data(), w, n, static_cast<uint16_t*>(result), slice); break;
        default: blend_rows(rows_.data(), w, n, static_cast<float*>(result), slice);
      }
    }
  }

 private:
  Taps depth_;
  std::vector<int64_t> held_;
  std::vector<const float*> rows_;
};

}  // namespace ps
