// A tensor of which some axes are reduced, as the few axes that loops need to know.
#pragma once

#include <algorithm>

#include "core/tensor.h"

namespace ps {

// Neighbouring axes of one kind are one axis here, and those of extent 1 are none.
struct ReducedShape {
  struct Axis {
    int64_t extent = 1, stride = 1;    // elements of the input
    int64_t step = 0;                  // elements of the output; 0: the axis is reduced
  };
  int n = 0;
  Axis axes[kMaxDims];                 // outermost first
  int64_t outputs = 1, count = 1;      // elements of the output, and how many of the input make one

  ReducedShape() = default;
  ReducedShape(const Shape& shape, const bool* reduced) {
    bool last = false;
    for (int64_t i = shape.ndim, stride = 1, step = 1; i-- > 0;) {
      const int64_t extent = shape[int(i)];
      (reduced[i] ? count : outputs) *= extent;
      if (extent == 1) continue;
      if (n && last == reduced[i]) axes[n - 1].extent *= extent;
      else axes[n++] = {extent, stride, reduced[i] ? 0 : step};
      last = reduced[i];
      stride *= extent;
      if (!last) step *= extent;
    }
    std::reverse(axes, axes + n);
  }

  // Calls, in the order of the input,
  //   columns(in, rows, width, out): `rows` elements make each of `width` outputs that lie side by side, or
  //   rows(in, count, width, out): `width` elements, side by side, make each of `count` outputs;
  // `in` and `out` are the first elements. Together they are the whole input.
  template <class Columns, class Rows> void for_each_block(Columns&& columns, Rows&& rows) const {
    if (outputs > 0 && count > 0) walk(0, 0, 0, columns, rows);
  }

 private:
  template <class Columns, class Rows>
  void walk(int k, int64_t in, int64_t out, Columns& columns, Rows& rows) const {
    const Axis &a = axes[std::min(k, kMaxDims - 1)], &next = axes[std::min(k + 1, kMaxDims - 1)];
    if (k == n) return columns(in, 1, 1, out);
    if (k == n - 1) return a.step ? columns(in, 1, a.extent, out) : columns(in, a.extent, 1, out);
    if (k == n - 2) return a.step ? rows(in, a.extent, next.extent, out) : columns(in, a.extent, next.extent, out);
    for (int64_t i = 0; i < a.extent; i++) walk(k + 1, in + i * a.stride, out + i * a.step, columns, rows);
  }
};

}  // namespace ps
