// The rows of one component that are decoded for a window.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "decode/jpeg/idct.h"
#include "decode/jpeg/plane_window.h"
#include "decode/jpeg/upsample.h"

namespace ps::jpeg {

// The rows of two MCU rows at a time: enough to upsample across the boundary between them.
class Plane : public PlaneWindow {
 public:
  // `mcu_columns`: those that will be decoded, for this component or for others.
  void allocate(Range columns) {
    origin_ = columns.begin * h * 8;
    size_t row = kMargin + size_t(columns.end - columns.begin + kGroup) * size_t(h) * 8 + kMargin;
    stride_ = (row + 63) / 64 * 64;
    mask_ = int(std::bit_ceil(unsigned(16 * v))) - 1;
    if (samples_.size() < stride_ * size_t(mask_ + 1)) samples_.resize(stride_ * size_t(mask_ + 1));
    if (upsampled_.size() < size_t(width_out_) + 4 * kMargin) upsampled_.resize(size_t(width_out_) + 4 * kMargin);
  }

  ptrdiff_t stride() const { return ptrdiff_t(stride_); }
  uint8_t* at(int row, int column) {
    return samples_.data() + size_t(row & mask_) * stride_ + (ptrdiff_t(kMargin) + column - origin_);
  }

  // Called when the rows of an MCU row are there: repeats the outermost samples, for the filter.
  void finish_mcu_row(int mcu_row) {
    if (!filter_h_) return;
    for (int y = mcu_row * v * 8; y < (mcu_row + 1) * v * 8; y++) {
      if (block_columns.begin == 0) *at(y, -1) = *at(y, 0);
      if (block_columns.end * 8 >= width_) *at(y, width_) = *at(y, width_ - 1);
    }
  }

  // Up to where the picture's rows can be had when MCU rows up to this one are there.
  int rows_ready(int mcu_row) const {
    int rows = (mcu_row + 1) * v * 8;
    if (rows >= height_) return height_ * fy_;
    return rows * fy_ - (filter_v_ ? fy_ / 2 : 0);
  }

  // The component's samples for row y of the picture, from the window's first column on.
  const uint8_t* row(int y) {
    int near = y / fy_, first = x_ / fx_, n = (x_ + width_out_ - 1) / fx_ + 1 - first;
    const uint8_t* in = at(near, first);
    if (fx_ == 1 && !filter_v_) return in;
    uint8_t* out = upsampled_.data();
    const uint8_t* far = filter_v_ ? at(std::clamp(y % 2 ? near + 1 : near - 1, 0, height_ - 1), first) : nullptr;
    if (filter_h_ && filter_v_) triangle_h2v2(in, far, n, out);
    else if (filter_h_) triangle_h2(in, n, out);
    else if (filter_v_) triangle_v2(in, far, y % 2, n, out);
    else replicate(in, fx_, n, out);
    return out + x_ % fx_;
  }

 private:
  static constexpr size_t kMargin = 64;   // readable samples on both sides of a row

  int origin_ = 0, mask_ = 0;   // the column of the first sample kept; of row indices
  size_t stride_ = 0;
  std::vector<uint8_t> samples_, upsampled_;
};

}  // namespace ps::jpeg
