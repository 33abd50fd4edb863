// The layout of pictures that come without one.
#pragma once

#include <string>

#include "core/error.h"
#include "core/tensor.h"

namespace ps {

// `volumes`: four axes are those of a volume (DHWC), or else of frames. Empty for numbers of axes that no picture has.
inline Layout guessed_layout(int ndim, bool volumes) {
  const Layout guesses[] = {"HW", "HWC", volumes ? "DHWC" : "FHWC", "FDHWC"};
  return ndim >= 2 && ndim <= 5 ? guesses[ndim - 2] : Layout();
}

// For errors, behind "got".
inline std::string shown_layout(const Tensor& t) {
  const std::string layout = t.layout.empty() ? "no layout" : "the layout '" + std::string(t.layout.axes) + "'";
  return layout + " and the shape " + to_string(t.shape);
}

// Fails where there are no height and width.
inline Layout picture_layout(const Tensor& t, bool volumes) {
  const Layout layout = t.layout.empty() ? guessed_layout(t.shape.ndim, volumes) : t.layout;
  if (layout.find('H') >= 0 && layout.find('W') >= 0) return layout;
  fail(ErrorKind::layout, t.layout.empty()
                              ? "expected pictures, volumes or frames, got the shape " + to_string(t.shape)
                              : std::string("the layout '") + t.layout.axes + "' has no height and width (H and W)");
}

}  // namespace ps
