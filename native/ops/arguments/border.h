// What a window means where it reaches beyond the tensor.
#pragma once

#include <algorithm>
#include <string>

#include "core/operator.h"
#include "ops/arguments/region.h"

namespace ps {

enum class Border { error, trim, constant, edge, reflect_1001, reflect_101, wrap };

inline Border border_of(const Spec& s) {
  const std::string name = s.string("out_of_bounds_policy");
  if (name == "error") return Border::error;
  if (name == "trim_to_shape") return Border::trim;
  if (name == "constant" || name == "pad") return Border::constant;
  if (name == "edge" || name == "clamp") return Border::edge;
  if (name == "reflect" || name == "reflect_1001") return Border::reflect_1001;
  if (name == "reflect_101") return Border::reflect_101;
  if (name == "wrap") return Border::wrap;
  fail(ErrorKind::argument, "out_of_bounds_policy is '" + name + "'");
}

// Which of n elements stands at index i; -1: none does. n is positive.
inline int64_t border_index(Border border, int64_t i, int64_t n) {
  if (uint64_t(i) < uint64_t(n)) return i;
  const auto modulo = [](int64_t a, int64_t b) { return (a % b + b) % b; };
  switch (border) {
    case Border::edge: return i < 0 ? 0 : n - 1;
    case Border::wrap: return modulo(i, n);
    case Border::reflect_1001: i = modulo(i, 2 * n); return std::min(i, 2 * n - 1 - i);
    case Border::reflect_101: i = n > 1 ? modulo(i, 2 * n - 2) : 0; return std::min(i, 2 * n - 2 - i);
    default: return -1;
  }
}

// Cuts or refuses a region that reaches beyond the tensor.
inline void apply_border(Border border, const Shape& input, const Layout& layout, Region& r) {
  if (border == Border::error) check_inside(r, input, layout);
  for (int i = 0; i < input.ndim; i++) {
    if (border == Border::trim) {
      const int64_t end = std::clamp<int64_t>(r.anchor[i] + r.shape[i], 0, input[i]);
      r.anchor[i] = std::clamp<int64_t>(r.anchor[i], 0, input[i]);
      r.shape[i] = end - r.anchor[i];
    } else if (border > Border::constant && input[i] == 0 && r.shape.volume() > 0) {
      fail(ErrorKind::argument, "on " + axis_name(layout, i) + " the input has no elements that could be repeated");
    }
  }
}

}  // namespace ps
