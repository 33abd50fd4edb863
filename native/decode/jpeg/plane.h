// What a window needs of one component, and the rows decoded for it.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/rows.h"
#include "decode/jpeg/header.h"
#include "decode/jpeg/idct.h"
#include "decode/jpeg/upsample.h"

namespace ps::jpeg {

struct Range {
  int begin = 0, end = 0;
  bool empty() const { return begin >= end; }
  bool has(int i) const { return i >= begin && i < end; }
};

// The rows of two MCU rows at a time: enough to upsample across the seam between them.
class Plane {
 public:
  Range block_columns, block_rows;   // of the blocks to be decoded; empty: none
  Range mcu_columns, mcu_rows;       // of the MCUs that hold them
  int h = 1, v = 1;                  // blocks of this component in an MCU

  void start(const Header& header, int number, const Window& window, bool wanted, bool fancy) {
    const Component& c = header.component[number];
    h = c.h, v = c.v;
    width_ = c.width, height_ = c.height;
    fx_ = header.h_max / c.h, fy_ = header.v_max / c.v;
    // libjpeg's choice: narrow planes are not filtered horizontally, and not at all if by 2 both ways.
    bool by2 = fx_ <= 2 && fy_ <= 2, wide = c.width > 2;
    filter_h_ = fancy && by2 && fx_ == 2 && wide;
    filter_v_ = fancy && by2 && fy_ == 2 && (fx_ == 1 || wide);
    x_ = int(window.x0), width_out_ = int(window.width());
    block_columns = block_rows = mcu_columns = mcu_rows = {};
    if (!wanted) return;
    Range columns = reach(window.x0, window.x1, fx_, filter_h_, width_);
    Range rows = reach(window.y0, window.y1, fy_, filter_v_, height_);
    block_columns = {columns.begin / 8, (columns.end + 7) / 8};
    block_rows = {rows.begin / 8, (rows.end + 7) / 8};
    mcu_columns = {block_columns.begin / h, (block_columns.end + h - 1) / h};
    mcu_rows = {block_rows.begin / v, (block_rows.end + v - 1) / v};
  }

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

  static Range reach(int64_t begin, int64_t end, int factor, bool filter, int size) {
    int first = int(begin) / factor, last = (int(end) - 1) / factor;
    return {std::max(first - filter, 0), std::min(last + filter, size - 1) + 1};
  }

  int width_ = 0, height_ = 0, fx_ = 1, fy_ = 1;
  bool filter_h_ = false, filter_v_ = false;
  int x_ = 0, width_out_ = 0;
  int origin_ = 0, mask_ = 0;   // the column of the first sample kept; of row numbers
  size_t stride_ = 0;
  std::vector<uint8_t> samples_, upsampled_;
};

}  // namespace ps::jpeg
