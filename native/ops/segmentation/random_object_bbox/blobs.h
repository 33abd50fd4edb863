// Blobs of a map of labels: pixels of one label that touch at their sides.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "core/tensor.h"

namespace ps {

struct LabelBox {
  int32_t label;
  Shape start, end;                    // end: behind the last ones

  int64_t volume() const {
    int64_t v = 1;
    for (int i = 0; i < start.ndim; i++) v *= end[i] - start[i];
    return v;
  }
};

// Goes row by row: pixels of one label side by side are a run, which is joined to those that it touches in rows before.
class Blobs {
 public:
  Blobs(const int32_t* labels, const Shape& shape) : labels_(labels), shape_(shape) {
    const int last = shape.ndim - 1;
    width_ = shape[last];
    int64_t stride = width_;
    strides_.ndim = last;
    for (int i = last; i-- > 0; stride *= shape[i]) strides_[i] = stride;
  }

  // The boxes of the blobs whose labels `wanted` says, by their first pixels.
  template <class Wanted> std::vector<LabelBox> boxes(const Wanted& wanted) {
    const int64_t all = shape_.volume();
    runs_.clear(), parent_.clear();
    run_of_.assign(size_t(all), -1);
    Shape at = shape_;                               // the row's place
    std::fill_n(at.dims, at.ndim, 0);
    for (int64_t row = 0; row < all; row += width_) {
      find_runs(row, at, wanted);
      for (int axis = at.ndim - 1; axis-- > 0 && ++at[axis] == shape_[axis];) at[axis] = 0;
    }
    return joined();
  }

 private:
  template <class Wanted> void find_runs(int64_t row, const Shape& at, const Wanted& wanted) {
    const int last = shape_.ndim - 1;
    for (int64_t begin = 0, end; begin < width_; begin = end) {
      const int32_t label = labels_[row + begin];
      for (end = begin + 1; end < width_ && labels_[row + end] == label; end++) {}
      if (!wanted(label)) continue;
      const auto run = int32_t(runs_.size());
      parent_.push_back(run);
      LabelBox box{label, at, at};
      for (int axis = 0; axis < last; axis++) box.end[axis]++;
      box.start[last] = begin, box.end[last] = end;
      runs_.push_back(box);
      for (int64_t i = row + begin; i < row + end; i++) {
        run_of_[size_t(i)] = run;
        for (int axis = 0; axis < last; axis++)
          if (at[axis] > 0 && labels_[i - strides_[axis]] == label) join(run_of_[size_t(i - strides_[axis])], run);
      }
    }
  }

  int32_t root(int32_t run) {
    while (parent_[size_t(run)] != run) run = parent_[size_t(run)] = parent_[size_t(parent_[size_t(run)])];
    return run;
  }
  void join(int32_t a, int32_t b) {
    a = root(a), b = root(b);
    parent_[size_t(std::max(a, b))] = std::min(a, b);
  }

  std::vector<LabelBox> joined() {
    std::vector<LabelBox> found;
    for (size_t i = 0; i < runs_.size(); i++) {
      const int32_t to = root(int32_t(i));
      LabelBox &box = runs_[size_t(to)], &part = runs_[i];
      for (int axis = 0; axis < shape_.ndim; axis++) {
        box.start[axis] = std::min(box.start[axis], part.start[axis]);
        box.end[axis] = std::max(box.end[axis], part.end[axis]);
      }
    }
    for (size_t i = 0; i < runs_.size(); i++)
      if (parent_[i] == int32_t(i)) found.push_back(runs_[i]);
    return found;
  }

  const int32_t* labels_;
  Shape shape_, strides_;              // of the axes but the last
  int64_t width_;
  std::vector<LabelBox> runs_;
  std::vector<int32_t> parent_, run_of_;
};

}  // namespace ps
