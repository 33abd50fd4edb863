// An order of axes with all that does not matter taken out of it.
#pragma once

#include "core/tensor.h"

namespace ps::detail {

inline constexpr size_t kLargestElement = 16;        // what is larger is copied as rows

// A permutation with all that does not matter taken out: axes of extent 1 are gone, axes that stay neighbours are one,
// and innermost axes that stay innermost are part of the element. Axes are in the output's order.
struct Permutation {
  int n = 0;
  size_t element = 1;                  // bytes
  int64_t extent[kMaxDims], from[kMaxDims], to[kMaxDims];   // steps in elements

  Permutation(const Shape& in, const int* perm, size_t size) : element(size) {
    int64_t step[kMaxDims], next = 1;
    for (int i = in.ndim; i-- > 0; next *= in[i]) step[i] = next;
    for (int i = 0; i < in.ndim; i++) {
      const int64_t e = in[perm[i]], s = step[perm[i]];
      if (e == 1) continue;
      if (n && from[n - 1] == s * e) {               // the input's order too
        extent[n - 1] *= e;
        from[n - 1] = s;
      } else {
        extent[n] = e;
        from[n++] = s;
      }
    }
    if (n && from[n - 1] == 1 && (n == 1 || element * size_t(extent[n - 1]) <= kLargestElement)) {
      const int64_t e = extent[--n];
      element *= size_t(e);
      for (int i = 0; i < n; i++) from[i] /= e;
    }
    next = 1;
    for (int i = n; i-- > 0; next *= extent[i]) to[i] = next;
  }
};

}  // namespace ps::detail
