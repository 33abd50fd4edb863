// A box of a tensor: where it starts and how large it is, axis by axis. It may reach beyond the tensor.
#pragma once

#include <string>

#include "core/error.h"
#include "core/rows.h"
#include "core/tensor.h"

namespace ps {

struct Region {
  Shape anchor, shape;

  static Region whole(const Shape& of) {
    Region r{of, of};
    for (int i = 0; i < of.ndim; i++) r.anchor[i] = 0;
    return r;
  }
  bool inside(const Shape& of) const {
    for (int i = 0; i < of.ndim; i++)
      if (anchor[i] < 0 || anchor[i] + shape[i] > of[i]) return false;
    return true;
  }
  // The first two axes as a picture's.
  Window window() const { return {anchor[1], anchor[0], anchor[1] + shape[1], anchor[0] + shape[0]}; }
};

// "axis 1 (W)", or "axis 1" where it has no name.
inline std::string axis_name(const Layout& layout, int axis) {
  std::string text = "axis " + std::to_string(axis);
  if (size_t(axis) < layout.view().size()) text += std::string(" (") + layout.axes[axis] + ")";
  return text;
}

// Fails unless the region lies inside, naming the first axis where it does not.
inline void check_inside(const Region& r, const Shape& of, const Layout& layout) {
  for (int i = 0; i < of.ndim; i++)
    if (r.anchor[i] < 0 || r.anchor[i] + r.shape[i] > of[i])
      fail(ErrorKind::argument, "on " + axis_name(layout, i) + " the window goes from " + std::to_string(r.anchor[i]) +
                                    " to " + std::to_string(r.anchor[i] + r.shape[i]) +
                                    ", which is not inside the input's 0 to " + std::to_string(of[i]));
}

}  // namespace ps
