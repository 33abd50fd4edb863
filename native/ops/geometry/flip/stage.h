// Rows from right to left, or as they are.
#pragma once

#include <vector>

#include "core/rows.h"
#include "rows/reverse.h"

namespace ps {

class FlipStage : public RowStage {
 public:
  void begin(const RowFormat& format, bool horizontal) {
    in = out = format;
    horizontal_ = horizontal;
  }

  Window demand(const Window& w) override {
    width_ = w.width();
    return horizontal_ ? Window{in.width - w.x1, w.y0, in.width - w.x0, w.y1} : w;
  }

  void* place(int64_t y) override { return horizontal_ ? nullptr : next->place(y); }

  void push(int64_t y, const void* row) override {
    if (horizontal_) {
      void* to = next->place(y);
      if (!to) {
        row_.resize(size_t(width_) * in.pixel_bytes() + kRowSlack);
        to = row_.data();
      }
      reverse_row(row, to, width_, in.pixel_bytes());
      row = to;
    }
    next->push(y, row);
  }

 private:
  bool horizontal_ = false;
  int64_t width_ = 0;
  std::vector<uint8_t> row_;
};

}  // namespace ps
