// What a window needs of one component: which of its blocks, and how they are upsampled.
#pragma once

#include <algorithm>

#include "core/rows.h"
#include "decode/jpeg/header.h"

namespace ps::jpeg {

struct Range {
  int begin = 0, end = 0;
  bool empty() const { return begin >= end; }
  bool has(int i) const { return i >= begin && i < end; }
};

class PlaneWindow {
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

 protected:
  static Range reach(int64_t begin, int64_t end, int factor, bool filter, int size) {
    int first = int(begin) / factor, last = (int(end) - 1) / factor;
    return {std::max(first - filter, 0), std::min(last + filter, size - 1) + 1};
  }

  int width_ = 0, height_ = 0, fx_ = 1, fy_ = 1;
  bool filter_h_ = false, filter_v_ = false;
  int x_ = 0, width_out_ = 0;
};

}  // namespace ps::jpeg
