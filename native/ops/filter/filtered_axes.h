// Which axes windows go along.
#pragma once

#include <string>
#include <string_view>

#include "core/error.h"
#include "core/tensor.h"

namespace ps {

struct FilteredAxes {
  int first = 0, count = 0;
};

// All but frames, and channels before or behind the others.
inline FilteredAxes filtered_axes(const Tensor& t, const char* done) {
  FilteredAxes a;
  int end = t.shape.ndim;
  const auto is = [&](int axis, std::string_view names) {
    return !t.layout.empty() && names.find(t.layout.axes[axis]) != names.npos;
  };
  while (a.first < end && is(a.first, "FC")) a.first++;
  if (end > a.first && is(end - 1, "C")) end--;
  if (end == a.first)
    fail(ErrorKind::layout, t.layout.empty()
                                ? "expected at least one axis, got a single number"
                                : std::string("the layout '") + t.layout.axes + "' has no axis to " + done);
  int frames = 0, channels = 0;
  for (int i = 0; i < t.shape.ndim; i++) {
    frames += is(i, "F"), channels += is(i, "C");
    if (frames > 1 || channels > 1 || (is(i, "FC") && i >= a.first && i < end))
      fail(ErrorKind::layout, std::string("the layout '") + t.layout.axes +
                                  "': expected frames first, channels first or last, and either once");
  }
  a.count = end - a.first;
  return a;
}

// Elements on the axes first to last - 1.
inline int64_t volume_of(const Shape& s, int first, int last) {
  int64_t v = 1;
  for (int i = first; i < last; i++) v *= s[i];
  return v;
}

}  // namespace ps
