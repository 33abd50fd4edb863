// A row of interleaved pixels, normalized: to planes, or interleaved as before.
#pragma once

#include <algorithm>
#include <type_traits>

#include "core/convert.h"
#include "ops/color/crop_mirror_normalize/normalization.h"
#include "rows/lanes.h"
#include "rows/reverse.h"

namespace ps {

// What follows is done for each type, or for pairs of them; not inlined is what the types of one side are enough for.
namespace detail {

template <class In>
[[gnu::noinline]] void apply_tile(const Normalization& m, const In* v, size_t n, float* __restrict to) {
  for (size_t i = 0; i < n; i++) to[i] = m.apply(v[i], i);
}
template <class Out> [[gnu::noinline]] void convert_tile(const float* tile, Out* to, size_t n) {
  convert_n(tile, to, n);
}

template <int kStep, class In>
void apply_steps(const In* v, int64_t step, int64_t n, float mean, float scale, float shift, float* __restrict to) {
  if constexpr (kStep != 0) step = kStep;
  for (int64_t i = 0; i < n; i++) to[i] = (convert<float>(v[i * step]) - mean) * scale + shift;
}

// One channel of n pixels; the usual distances are constants, so that loads become shuffles.
template <class In>
void apply_strided(const Normalization& m, int channel, const In* v, bool mirror, int64_t n, float* to) {
  const auto c = size_t(channel);
  const int64_t step = mirror ? -m.channels : m.channels;
  const auto steps = step == 1    ? apply_steps<1, In>
                     : step == 3  ? apply_steps<3, In>
                     : step == -3 ? apply_steps<-3, In>
                                  : apply_steps<0, In>;
  steps(v, step, n, m.mean[c], m.scale[c], m.shift[c], to);
}

}  // namespace detail

template <class In, class Out>
void normalize_to_planes(const Normalization& m, NormalizedRow& r, const void* row, void* to) {
  const In* from = static_cast<const In*>(row);
  Out* out = static_cast<Out*>(to);
  const int64_t n = r.width;
  if constexpr (std::is_same_v<In, uint8_t>) {
    if (m.channels == 3 && n >= lanes::kLanes) {
      const auto planes = r.mirror ? lanes::planes_of_3<Out, true> : lanes::planes_of_3<Out, false>;
      return planes(from, n, m.mean.data(), m.scale.data(), m.shift.data(), out, r.plane);
    }
  }
  for (int c = 0; c < m.channels; c++) {
    Out* plane = out + c * r.plane;
    float buffer[256];
    for (int64_t i = 0; i < n; i += 256) {
      const int64_t count = std::min<int64_t>(n - i, 256);
      const In* v = from + (r.mirror ? n - 1 - i : i) * m.channels + c;
      if constexpr (std::is_same_v<Out, float>) {
        detail::apply_strided(m, c, v, r.mirror, count, plane + i);
      } else {
        detail::apply_strided(m, c, v, r.mirror, count, buffer);
        detail::convert_tile(buffer, plane + i, size_t(count));
      }
    }
  }
}

namespace detail {

// Pixels of kFrom of kTo channels (0: what the Normalization says) with the channels that they lack.
template <int kFrom, int kTo, class T>
[[gnu::noinline]] void add_channels(const Normalization& m, const T* from, T* to, int64_t pixels) {
  const int have = kFrom ? kFrom : m.channels, want = kTo ? kTo : m.out_channels;
  const T* fill = reinterpret_cast<const T*>(m.fill.data());
  for (int64_t i = 0; i < pixels; i++, from += have, to += want) {
    for (int c = 0; c < have; c++) to[c] = from[c];
    for (int c = have; c < want; c++) to[c] = fill[c];
  }
}

}  // namespace detail

template <class In, class Out>
void normalize_interleaved(const Normalization& m, NormalizedRow& r, const void* row, void* to) {
  const bool padded = m.out_channels > m.channels;
  if (padded) r.dense.resize(size_t(r.width * m.channels) * sizeof(Out));
  Out* dense = static_cast<Out*>(padded ? r.dense.data() : to);
  int64_t done = 0;                        // pixels
  if constexpr (std::is_same_v<In, uint8_t>)
    if (r.mirror && m.channels == 3)
      done = lanes::reversed_of_3(static_cast<const In*>(row), r.width, m.mean.data(), m.scale.data(), m.shift.data(),
                                  dense);
  const auto elements = size_t((r.width - done) * m.channels);
  if (r.mirror) {
    r.reversed.resize(elements * sizeof(In));
    reverse_row(row, r.reversed.data(), r.width - done, size_t(m.channels) * sizeof(In));
    row = r.reversed.data();
  }
  const In* from = static_cast<const In*>(row);
  Out* out = dense + done * m.channels;
  r.tile.resize(m.mean.size());
  float* tile = r.tile.data();
  for (size_t at = 0; at < elements; at += m.mean.size()) {
    const size_t n = std::min(elements - at, m.mean.size());
    if constexpr (std::is_same_v<Out, float>) tile = out + at;
    detail::apply_tile(m, from + at, n, tile);
    if constexpr (!std::is_same_v<Out, float>) detail::convert_tile(tile, out + at, n);
  }
  if (!padded) return;
  if (m.channels == 3 && m.out_channels == 4) detail::add_channels<3, 4>(m, dense, static_cast<Out*>(to), r.width);
  else detail::add_channels<0, 0>(m, dense, static_cast<Out*>(to), r.width);
}

}  // namespace ps
