// Passes on only the rows that have not been passed on yet: when a picture turns out broken half-way, another decoder
// starts over, and what it gives for the rows above the fault is what has been given already.
#pragma once

#include "core/rows.h"

namespace ps {

class Resume : public RowSink {
 public:
  explicit Resume(RowSink& sink) : sink_(sink) {}
  void* place(int64_t y) override { return y > last_ ? sink_.place(y) : nullptr; }
  void push(int64_t y, const void* row) override {
    if (y <= last_) return;
    last_ = y;
    sink_.push(y, row);
  }

 private:
  RowSink& sink_;
  int64_t last_ = -1;
};

}  // namespace ps
