// Windows of any weights over pictures and volumes.
#pragma once

#include "device/base/border.h"
#include "device/base/divisor.h"
#include "device/tensor/elements.h"

namespace ps::device {

inline constexpr int kFilterRun = 4;               // neighbours in a row that one call makes

struct FilterFields {
  const void* in;
  void* out;
  const float* weights;
  const int32_t* anchors;              // three of each frame
  const void* fill;                    // an element, or one of each frame; none: 0
  int64_t weights_step, fill_step;     // from one frame to the next
  int32_t size[3], window[3];          // of the input's planes, rows, columns; of the weights'
  int32_t width;                       // of the output
  int32_t border;
  Divisor channels, runs, height, depth, planes;     // of the output, runs of a row; those of a frame, before depth
};

// Element i is a run of pixels of one channel: what is read for one of them is most of what the next one needs.
template <class In, class Out> struct Filtered : FilterFields {
  PS_FN void element(int64_t i) const {
    const auto run = channels.quotient(uint64_t(i)), c = uint64_t(i) - run * channels.number();
    const auto row = runs.quotient(run), plane = height.quotient(row), picture = depth.quotient(plane);
    const auto frame = planes.quotient(picture);
    const auto x = int32_t(run - row * runs.number()) * kFilterRun;
    const int32_t* anchor = anchors + 3 * frame;
    const int64_t x0 = int64_t(x) - anchor[2];
    const int64_t y0 = int64_t(row - plane * height.number()) - anchor[1];
    const int64_t z0 = int64_t(plane - picture * depth.number()) - anchor[0];
    const auto step = int64_t(channels.number());
    const In* from = static_cast<const In*>(in) + int64_t(picture) * size[0] * size[1] * size[2] * step + int64_t(c);
    const float beyond = fill ? convert<float>(static_cast<const In*>(fill)[frame * fill_step]) : 0.0f;
    const float* w = weights + frame * weights_step;
    float sums[kFilterRun] = {};       // registers: never under an index that is not known when this is compiled
    if (inside(x0, y0, z0)) add_up<true>(from, w, x0, y0, z0, beyond, sums);
    else add_up<false>(from, w, x0, y0, z0, beyond, sums);
    Out* to = static_cast<Out*>(out) + (int64_t(row) * width + x) * step + int64_t(c);
    PS_UNROLL
    for (int k = 0; k < kFilterRun; k++)
      if (x + k < width) to[k * step] = even_rounded<Out>(sums[k]);
  }

 private:
  // Whether the windows of a whole run lie in the input.
  PS_FN bool inside(int64_t x, int64_t y, int64_t z) const {
    return x >= 0 && y >= 0 && z >= 0 && x + window[2] + kFilterRun - 1 <= size[2] && y + window[1] <= size[1] &&
           z + window[0] <= size[0];
  }
  template <bool whole> PS_FN void add_up(const In* from, const float* w, int64_t x0, int64_t y0, int64_t z0,
                                          float beyond, float* sums) const {
    PS_LOOP
    for (int kz = 0; kz < window[0]; kz++) {
      const int64_t z = whole ? z0 + kz : border_place(border, z0 + kz, size[0]);
      PS_LOOP
      for (int ky = 0; ky < window[1]; ky++) {
        const int64_t y = whole ? y0 + ky : border_place(border, y0 + ky, size[1]);
        const In* row = y < 0 || z < 0 ? nullptr : from + (z * size[1] + y) * size[2] * int64_t(channels.number());
        float v[kFilterRun];
        PS_UNROLL
        for (int k = 0; k < kFilterRun - 1; k++) v[k] = value<whole>(row, x0 + k, beyond);
        PS_LOOP
        for (int kx = 0; kx < window[2]; kx++) {
          const float weight = *w++;
          v[kFilterRun - 1] = value<whole>(row, x0 + kx + kFilterRun - 1, beyond);
          PS_UNROLL
          for (int k = 0; k < kFilterRun; k++) sums[k] += weight * v[k];
          PS_UNROLL
          for (int k = 0; k < kFilterRun - 1; k++) v[k] = v[k + 1];
        }
      }
    }
  }
  // What stands at place x of a row, which need not be there either unless the window is whole.
  template <bool whole> PS_FN float value(const In* row, int64_t x, float beyond) const {
    const int64_t at = whole ? x : border_place(border, x, size[2]);
    if (!whole && (!row || at < 0)) return beyond;
    return convert<float>(row[at * int64_t(channels.number())]);
  }
};

}  // namespace ps::device
