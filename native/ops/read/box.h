// A part of an array that lies in a file: no more is read than it needs, or little more.
#pragma once

#include <algorithm>
#include <cstring>
#include <optional>
#include <vector>

#include "ops/arguments/region.h"
#include "read/bytes.h"

namespace ps {

// An array in row-major order that begins at a place of a file, and a region inside it.
class Box {
 public:
  Box(const Shape& array, size_t element, const Region& region) : r_(region), whole_from_(array.ndim) {
    int64_t stride = int64_t(element);
    for (int i = array.ndim; i-- > 0; stride *= array[i]) stride_[i] = stride;
    all_ = size_t(stride);
    while (whole_from_ > 0 && r_.shape[whole_from_ - 1] == array[whole_from_ - 1]) whole_from_--;
  }

  // Where the region begins in the array's bytes, if it lies in one piece there.
  std::optional<int64_t> one_piece() const {
    int64_t at = 0;
    for (int i = 0; i < whole_from_; i++) {
      if (i + 1 < whole_from_ && r_.shape[i] != 1) return {};
      at += r_.anchor[i] * stride_[i];
    }
    return at;
  }

  void read(const Bytes& bytes, int64_t at, void* to) {
    to_ = static_cast<uint8_t*>(to);
    if (r_.shape.volume() == 0) return;
    if (whole_from_ == 0) return bytes.read(at, to, all_);
    walk(bytes, at, 0);
  }

 private:
  static constexpr int64_t kSpan = int64_t(1) << 18;     // bytes that are read with what lies between those needed

  void walk(const Bytes& bytes, int64_t at, int axis) {
    const int64_t stride = stride_[axis], count = r_.shape[axis];
    at += r_.anchor[axis] * stride;
    if (axis + 1 == whole_from_) {                       // all that is inside is taken
      bytes.read(at, to_, size_t(count * stride));
      to_ += count * stride;
      return;
    }
    if (!bytes.memory() && stride <= kSpan) {            // several of this axis at once
      const int64_t most = std::max<int64_t>(kSpan / stride, 1);
      for (int64_t i = 0; i < count; i += most) {
        const int64_t n = std::min(most, count - i);
        span_.resize(size_t(n * stride));
        bytes.read(at + i * stride, span_.data(), span_.size());
        const Bytes read(span_.data(), n * stride);
        for (int64_t k = 0; k < n; k++) walk(read, k * stride, axis + 1);
      }
      return;
    }
    for (int64_t i = 0; i < count; i++) walk(bytes, at + i * stride, axis + 1);
  }

  Region r_;
  int64_t stride_[kMaxDims] = {};                        // bytes
  size_t all_ = 0;
  int whole_from_;                                       // the first of the axes at the end that are taken whole
  uint8_t* to_ = nullptr;
  std::vector<uint8_t> span_;
};

}  // namespace ps
