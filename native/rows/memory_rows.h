// The ends of a row pipeline that lie in memory.
#pragma once

#include <cstring>
#include <vector>

#include "core/rows.h"

namespace ps {

// Interleaved pictures: the last three axes are height, width and channels (two axes: one channel).
inline RowFormat picture_format(const Tensor& t) {
  const int n = t.shape.ndim;
  RowFormat f;
  f.dtype = t.dtype;
  f.channels = n >= 3 ? int(t.shape[n - 1]) : 1;
  f.width = n >= 3 ? t.shape[n - 2] : t.shape[n - 1];
  f.height = n >= 3 ? t.shape[n - 3] : t.shape[0];
  return f;
}

// Stores rows in a tensor.
class MemorySink : public RowSink {
 public:
  explicit MemorySink(Tensor& t) : MemorySink(t.data, picture_format(t)) {}
  MemorySink(void* data, const RowFormat& f)
      : data_(static_cast<uint8_t*>(data)), format_(f), stride_(f.pixel_bytes() * size_t(f.width)) {}
  Window window() const { return {0, 0, format_.width, format_.height}; }
  void* place(int64_t y) override { return data_ + size_t(y) * stride_; }
  bool keeps_places() const override { return true; }
  void push(int64_t y, const void* row) override {
    uint8_t* to = data_ + size_t(y) * stride_;
    if (to != row) std::memcpy(to, row, stride_);
  }

 private:
  uint8_t* data_;
  RowFormat format_;
  size_t stride_;
};

// From a picture's rows to those of a window that begins at its row y0.
struct ShiftedRows : RowSink {
  RowSink& sink;
  int64_t y0;
  ShiftedRows(RowSink& s, int64_t y) : sink(s), y0(y) {}
  void* place(int64_t y) override { return sink.place(y - y0); }
  void push(int64_t y, const void* row) override { sink.push(y - y0, row); }
};

// Gives the rows of a picture in memory. The memory may be a caller's own, without room behind it, so the last row
// goes through a copy that has it.
inline void push_rows(const void* data, const RowFormat& f, const Window& w, RowSink& sink) {
  const size_t stride = f.pixel_bytes() * size_t(f.width);
  const uint8_t* base = static_cast<const uint8_t*>(data) + f.pixel_bytes() * size_t(w.x0);
  const size_t bytes = f.pixel_bytes() * size_t(w.width());
  if (w.height() > 0 && sink.take(base + size_t(w.y0) * stride, stride)) return;
  thread_local std::vector<uint8_t> last;
  for (int64_t y = w.y0; y < w.y1; y++) {
    const uint8_t* row = base + size_t(y) * stride;
    if (size_t(f.height - y) * stride < stride + kRowSlack) {
      if (last.size() < bytes + kRowSlack) last.resize(bytes + kRowSlack);
      std::memcpy(last.data(), row, bytes);
      row = last.data();
    }
    sink.push(y, row);
  }
}

}  // namespace ps
