// The window that slicing arguments describe: start, end, shape and their relative forms, or two more inputs, anchor
// and shape; along the axes that `axes` or `axis_names` name.
#pragma once

#include <cmath>
#include <string>

#include "ops/arguments/axes.h"
#include "ops/arguments/picture_layout.h"
#include "ops/arguments/region.h"

namespace ps {

class SliceWindow {
 public:
  explicit SliceWindow(const Spec& s)
      : positional_(s.num_inputs > 1), normalized_anchor_(s.flag("normalized_anchor")),
        normalized_shape_(s.flag("normalized_shape")), axes_(s), start_(s.arg<int64_t>("start")),
        end_(s.arg<int64_t>("end")), shape_(s.arg<int64_t>("shape")), rel_start_(s.arg<float>("rel_start")),
        rel_end_(s.arg<float>("rel_end")), rel_shape_(s.arg<float>("rel_shape")) {
    const bool named = start_.given() || rel_start_.given() || end_.given() || rel_end_.given() || shape_.given() ||
                       rel_shape_.given();
    if (positional_ && named)
      fail(ErrorKind::argument, "the window is given twice: by inputs (anchor, shape), and by arguments (start ...)");
    if (positional_ ? s.num_inputs != 3 : !named)
      fail(ErrorKind::argument, "no window: expected start, rel_start, end, rel_end, shape or rel_shape, or two more "
                                "inputs, anchor and shape");
  }

  // Of arguments whose names have a prefix, "roi_start" and "rel_roi_start". Where none is given, all is meant, and
  // where no axes are named, all of them.
  SliceWindow(const Spec& s, const std::string& prefix)
      : prefix_(prefix), axes_(s, prefix + "axes"), start_(s.arg<int64_t>(prefix + "start")),
        end_(s.arg<int64_t>(prefix + "end")), shape_(s.arg<int64_t>(prefix + "shape")),
        rel_start_(s.arg<float>("rel_" + prefix + "start")), rel_end_(s.arg<float>("rel_" + prefix + "end")),
        rel_shape_(s.arg<float>("rel_" + prefix + "shape")) {}

  // Whether it may be another than all.
  bool given() const {
    return positional_ || start_.given() || rel_start_.given() || end_.given() || rel_end_.given() || shape_.given() ||
           rel_shape_.given();
  }
  // Not clipped: what lies outside is up to the caller.
  Region region(const Context& c, const Shape& input, const Layout& layout) const {
    Region r = Region::whole(input);
    int axes[kMaxDims];
    const bool guess = layout.empty() && prefix_.empty();
    const int n = axes_.find_or_all(c, input, guess ? guessed_layout(input.ndim, true) : layout, axes);
    for (int i = 0; i < n; i++) {
      const int64_t extent = input[axes[i]];
      const Range range = positional_ ? from_inputs(c, i, n, extent) : from_arguments(c, i, n, extent);
      constexpr double limit = 0x1p62;   // so that sums of bounds stay within int64_t
      if (!(range.end >= range.start && range.start >= -limit && range.end <= limit))
        fail(ErrorKind::argument, "on " + axis_name(layout, axes[i]) + " the slice starts at " + text(range.start) +
                                      " and ends at " + text(range.end));
      r.anchor[axes[i]] = std::llround(range.start);
      r.shape[axes[i]] = std::llround(range.end) - r.anchor[axes[i]];
    }
    return r;
  }

  // Of a picture, and inside it; region() is more general.
  Window window(const Context& c, int64_t width, int64_t height) const {
    const Shape picture{height, width};
    const Region r = region(c, picture, "HW");
    check_inside(r, picture, "HW");
    return r.window();
  }

 private:
  struct Range {
    double start, end;
  };

  static std::string text(double v) {
    return std::abs(v) < 0x1p53 && v == std::floor(v) ? std::to_string(int64_t(v)) : std::to_string(v);
  }

  template <class T>
  T value(const Context& c, const Arg<T>& a, const char* kind, const char* name, int i, int n) const {
    return prefix_.empty() && !*kind ? axis_value(c, a, name, i, n)
                                     : axis_value(c, a, (kind + prefix_ + name).c_str(), i, n);
  }
  // None at all means that this sample does not give the argument.
  template <class T> static bool has(const Context& c, const Arg<T>& a) { return a.given() && a.size(c) > 0; }
  [[noreturn]] static void wrong_count(const char* name, int64_t have, int n) {
    fail(ErrorKind::argument, std::string(name) + " has " + std::to_string(have) + " values for " + std::to_string(n) +
                                  " axes");
  }

  // Relative coordinates are floats, and so are their products with the extent; only a sum of two is rounded once.
  Range from_arguments(const Context& c, int i, int n, int64_t extent) const {
    Range r{0, double(extent)};
    const bool relative = !has(c, start_) && has(c, rel_start_);
    if (has(c, start_)) r.start = double(value(c, start_, "", "start", i, n));
    else if (relative) r.start = value(c, rel_start_, "rel_", "start", i, n) * float(extent);
    if (has(c, end_)) r.end = double(value(c, end_, "", "end", i, n));
    else if (has(c, rel_end_)) r.end = value(c, rel_end_, "rel_", "end", i, n) * float(extent);
    else if (has(c, shape_)) r.end = r.start + double(value(c, shape_, "", "shape", i, n));
    else if (has(c, rel_shape_)) {
      const float shape = value(c, rel_shape_, "rel_", "shape", i, n);
      r.end = relative ? (double(value(c, rel_start_, "rel_", "start", i, n)) + shape) * double(extent)
                       : r.start + shape * float(extent);
    }
    return r;
  }

  Range from_inputs(const Context& c, int i, int n, int64_t extent) const {
    const Tensor &anchor = c.in(1), &shape = c.in(2);
    if (anchor.shape.volume() != n) wrong_count("the anchor", anchor.shape.volume(), n);
    if (shape.shape.volume() != n) wrong_count("the shape", shape.shape.volume(), n);
    const double scale = double(extent);
    const double start = element(anchor, i), size = element(shape, i);
    const bool by_anchor = normalized_anchor_ && is_float(anchor.dtype);
    const bool by_shape = normalized_shape_ && is_float(shape.dtype);
    if (by_anchor && by_shape) return {start * scale, (start + size) * scale};
    const double at = by_anchor ? start * scale : start;
    return {at, at + (by_shape ? size * scale : size)};
  }

  std::string prefix_;
  bool positional_ = false, normalized_anchor_ = true, normalized_shape_ = true;
  AxesArgument axes_;
  Arg<int64_t> start_, end_, shape_;
  Arg<float> rel_start_, rel_end_, rel_shape_;
};

}  // namespace ps
