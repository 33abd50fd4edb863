// How elements of pictures are normalized, and rows of pixels.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/convert.h"
#include "core/tensor.h"

namespace ps {

struct ChannelNumbers {
  float mean, scale, shift;

  // `add` is added after scaling. Taking it off the mean beforehand, where that is the same, is what DALI does.
  static ChannelNumbers of(float mean, float scale, float add) {
    if (scale != 0) return {mean - add / scale, scale, 0};
    return {mean, scale, add};
  }
};

// Each value becomes (v - mean) * scale + shift, in floats, as its channel's numbers say.
struct Normalization {
  int channels = 0, out_channels = 0;      // more of the output: padding
  std::vector<float> mean, scale, shift;   // of each channel, and again until they fill a tile of whole pixels
  std::vector<uint8_t> fill;               // of each channel of the output, in its type

  static constexpr int kTile = 192;        // elements, at least: loops over tiles are long enough for SIMD
  void resize(int n) {
    channels = n;
    const size_t size = size_t(n) * size_t((kTile + n - 1) / std::max(n, 1));
    for (std::vector<float>* v : {&mean, &scale, &shift}) v->resize(size);
  }
  void set(int channel, const ChannelNumbers& n) {
    for (size_t i = size_t(channel); i < mean.size(); i += size_t(channels)) {
      mean[i] = n.mean;
      scale[i] = n.scale;
      shift[i] = n.shift;
    }
  }
  template <class In> float apply(In v, size_t i) const { return (convert<float>(v) - mean[i]) * scale[i] + shift[i]; }
};

struct NormalizedRow {
  int64_t width = 0;
  bool mirror = false;
  int64_t plane = 0;                       // elements from one plane to the next
  std::vector<uint8_t> reversed, dense;
  std::vector<float> tile;
};

using NormalizeRow = void (*)(const Normalization&, NormalizedRow&, const void* row, void* to);
// For these types: to planes, or interleaved as before.
NormalizeRow normalize_row(DType from, DType to, bool planes);

}  // namespace ps
