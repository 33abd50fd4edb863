// The arguments `axes` and `axis_names`, either of which names axes of a tensor.
#pragma once

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

#include "core/operator.h"
#include "ops/arguments/region.h"

namespace ps {

class AxesArgument {
 public:
  explicit AxesArgument(const Spec& s)
      : numbers_(s.arg<int64_t>("axes")), named_(s.find("axis_names")), names_(s.string("axis_names")) {}
  // By number alone, and called otherwise.
  AxesArgument(const Spec& s, const std::string& numbers) : numbers_(s.arg<int64_t>(numbers)), named_(false) {}
  bool given() const { return named_ || numbers_.given(); }

  // Writes the axes in their order, counted from 0, and returns how many there are. Fails where one is not there, or is
  // named twice.
  int find(const Context& c, const Shape& shape, const Layout& layout, int* axes) const {
    const int64_t count = names_.empty() ? numbers_.size(c) : int64_t(names_.size());
    if (count > kMaxDims) fail(ErrorKind::argument, std::to_string(count) + " axes are more than any tensor has");
    for (int64_t i = 0; i < count; i++)
      axes[i] = names_.empty() ? by_number(shape, numbers_.get(c, i)) : by_name(shape, layout, names_[size_t(i)]);
    bool seen[kMaxDims] = {};
    for (int64_t i = 0; i < count; i++)
      if (std::exchange(seen[axes[i]], true))
        fail(ErrorKind::argument, axis_name(layout, axes[i]) + " is named twice");
    return int(count);
  }
  // The same; where none is named, all are meant.
  int find_or_all(const Context& c, const Shape& shape, const Layout& layout, int* axes) const {
    if (const int count = find(c, shape, layout, axes)) return count;
    std::iota(axes, axes + shape.ndim, 0);
    return shape.ndim;
  }
  // As flags of all axes; where the arguments are not given, all are set.
  void mark(const Context& c, const Tensor& t, bool* marks) const {
    std::fill_n(marks, t.shape.ndim, !given());
    int axes[kMaxDims];
    for (int i = 0, n = find(c, t.shape, t.layout, axes); i < n; i++) marks[axes[i]] = true;
  }

 private:
  static int by_number(const Shape& shape, int64_t axis) {
    if (axis < -shape.ndim || axis >= shape.ndim)
      fail(ErrorKind::axis, "axes: " + std::to_string(axis) + " is no axis of the shape " + to_string(shape));
    return int(axis < 0 ? axis + shape.ndim : axis);
  }
  static int by_name(const Shape& shape, const Layout& layout, char name) {
    const int axis = layout.find(name);
    if (axis < 0 || axis >= shape.ndim)
      fail(ErrorKind::layout, std::string("axis_names: the layout '") + layout.axes + "' has no axis '" + name + "'");
    return axis;
  }

  Arg<int64_t> numbers_;
  bool named_;
  std::string names_;
};

// Of numbers that are given for each of so many axes: the one for axis i of these. One number stands for all.
template <class T> T axis_value(const Context& c, const Arg<T>& a, const char* name, int i, int axes) {
  const int64_t have = a.size(c);
  if (have != 1 && have != axes)
    fail(ErrorKind::argument, std::string(name) + " has " + std::to_string(have) + " values for " +
                                  std::to_string(axes) + " axes");
  return a.get(c, have == 1 ? 0 : i);
}

}  // namespace ps
