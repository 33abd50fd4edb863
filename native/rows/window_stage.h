// A window of the rows, with a change of type on the way.
#pragma once

#include <vector>

#include "core/converter.h"
#include "core/rows.h"

namespace ps {

class WindowStage : public RowStage {
 public:
  // The output's first pixel is the input's pixel x, y.
  void begin(const RowFormat& input, const RowFormat& output, int64_t x, int64_t y, Convert convert) {
    in = input;
    out = output;
    x_ = x;
    y_ = y;
    convert_ = convert;
  }

  Window demand(const Window& w) override {
    elements_ = size_t(w.width()) * size_t(in.channels);
    return {w.x0 + x_, w.y0 + y_, w.x1 + x_, w.y1 + y_};
  }

  void* place(int64_t y) override { return in.dtype == out.dtype ? next->place(y - y_) : nullptr; }

  void push(int64_t y, const void* row) override {
    if (in.dtype != out.dtype) {
      void* to = next->place(y - y_);
      if (!to) {
        row_.resize(elements_ * size_of(out.dtype) + kRowSlack);
        to = row_.data();
      }
      convert_(row, to, elements_);
      row = to;
    }
    next->push(y - y_, row);
  }

 private:
  int64_t x_ = 0, y_ = 0;
  size_t elements_ = 0;
  Convert convert_ = nullptr;
  std::vector<uint8_t> row_;
};

}  // namespace ps
