// Stages that make each row of their output of the same row of the input, pixel by pixel.
#pragma once

#include <vector>

#include "core/rows.h"

namespace ps {

class MapStage : public RowStage {
 public:
  Window demand(const Window& w) override {
    width_ = size_t(w.width());
    const size_t bytes = width_ * out.pixel_bytes() + kRowSlack;
    if (row_.size() < bytes) row_.resize(bytes);
    return w;
  }
  void push(int64_t y, const void* from) override {
    void* to = next->place(y);
    if (!to) to = row_.data();
    map(from, to, width_);
    next->push(y, to);
  }

 protected:
  virtual void map(const void* from, void* to, size_t pixels) = 0;

 private:
  size_t width_ = 0;
  std::vector<uint8_t> row_;
};

}  // namespace ps
