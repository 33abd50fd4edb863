// How the time of a row pipeline divides among its stages: a clock before each stage measures what goes by below it.
// Reading the time for each row costs a little, so the engine puts clocks into some of the samples alone.
#pragma once

#include "core/rows.h"
#include "run/stats.h"

namespace ps {

class StageClock : public RowSink {
 public:
  void watch(RowSink& below) { below_ = &below; }
  int64_t ns() const { return ns_; }
  void* place(int64_t y) override { return below_->place(y); }
  bool keeps_places() const override { return below_->keeps_places(); }
  void push(int64_t y, const void* row) override {
    const int64_t start = now_ns();
    below_->push(y, row);
    ns_ += now_ns() - start;
  }
  bool take(const void* picture, size_t stride) override {
    const int64_t start = now_ns();
    const bool taken = below_->take(picture, stride);
    ns_ += now_ns() - start;
    return taken;
  }

 private:
  RowSink* below_ = nullptr;
  int64_t ns_ = 0;
};

}  // namespace ps
