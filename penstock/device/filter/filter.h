// Windows of any weights over pictures and volumes.
#pragma once

#include "device/filter/laplacian.h"

namespace ps::device {

// What stands beyond the border. The numbers are those that the host writes.
enum FilterBorder : int32_t { kFilterReflect101, kFilterReflect1001, kFilterWrap, kFilterClamp, kFilterConstant };

// Which place of n stands at place i; -1: none.
PS_FN int64_t filter_place(int32_t border, int64_t i, int64_t n) {
  if (uint64_t(i) < uint64_t(n)) return i;
  if (border == kFilterReflect101) return mirrored_101(i, n);
  if (border == kFilterClamp) return i < 0 ? 0 : n - 1;
  if (border == kFilterConstant) return -1;
  const int64_t period = border == kFilterWrap ? n : 2 * n;
  i = (i % period + period) % period;
  return min(i, 2 * n - 1 - i);        // a place that is wrapped is below n
}

// Where integers are wanted halves go to the even one.
PS_FN float even_half(float v) {
#if defined(__CUDACC_RTC__)
  return ::rintf(v);
#else
  return std::rint(v);
#endif
}
template <class Out> PS_FN Out filtered(float sum) {
  if constexpr (is_real<Out>) return convert<Out>(sum);
  else return convert<Out>(even_half(sum));
}

struct FilterFields {
  const void* in;
  void* out;
  const float* weights;
  const int32_t* anchors;              // three of each frame
  const void* fill;                    // an element, or one of each frame; none: 0
  int64_t weights_step, fill_step;     // from one frame to the next
  int32_t size[3], window[3];          // of the input's planes, rows, columns; of the weights'
  int32_t border;
  Divisor channels, width, height, depth, planes;    // of the output; those of a frame, before depth

  PS_FN int64_t weight_at(int z, int y, int x) const { return (int64_t(z) * window[1] + y) * window[2] + x; }
};

template <class In, class Out> struct Filter : FilterFields {
  PS_FN void element(int64_t i) const {
    const auto pixel = channels.quotient(uint64_t(i)), c = uint64_t(i) - pixel * channels.number();
    const auto row = width.quotient(pixel), plane = height.quotient(row), picture = depth.quotient(plane);
    const auto frame = planes.quotient(picture);
    const int32_t* anchor = anchors + 3 * frame;
    const int64_t x0 = int64_t(pixel - row * width.number()) - anchor[2];
    const int64_t y0 = int64_t(row - plane * height.number()) - anchor[1];
    const int64_t z0 = int64_t(plane - picture * depth.number()) - anchor[0];
    const In* from = static_cast<const In*>(in) +
                     int64_t(picture) * size[0] * size[1] * size[2] * int64_t(channels.number()) + int64_t(c);
    const float beyond = fill ? convert<float>(static_cast<const In*>(fill)[frame * fill_step]) : 0.0f;
    const float* w = weights + frame * weights_step;
    float sum = 0;
    PS_LOOP
    for (int kz = 0; kz < window[0]; kz++) {
      const int64_t z = filter_place(border, z0 + kz, size[0]);
      PS_LOOP
      for (int ky = 0; ky < window[1]; ky++) {
        const int64_t y = filter_place(border, y0 + ky, size[1]);
        PS_LOOP
        for (int kx = 0; kx < window[2]; kx++) {
          const int64_t x = filter_place(border, x0 + kx, size[2]);
          const bool inside = z >= 0 && y >= 0 && x >= 0;
          const float v =
              inside ? convert<float>(from[((z * size[1] + y) * size[2] + x) * int64_t(channels.number())]) : beyond;
          sum += w[weight_at(kz, ky, kx)] * v;
        }
      }
    }
    static_cast<Out*>(out)[i] = filtered<Out>(sum);
  }
};

}  // namespace ps::device
