// Row pipelines: how decoding, geometry and pixel operators of one picture run as one pass that stays in cache.
//
// A source (a JPEG decoder, or a picture in memory) gives rows from top to bottom to the first stage; each stage
// gives rows to the next; the last one stores them. Before that, demand runs the other way: each stage gets the
// window of its output that is wanted and returns the window of its input that it needs for it, so the source
// decodes no more than that.
#pragma once

#include <cstdint>

#include "core/tensor.h"

namespace ps {

// Pixels x0 <= x < x1, y0 <= y < y1.
struct Window {
  int64_t x0 = 0, y0 = 0, x1 = 0, y1 = 0;
  int64_t width() const { return x1 - x0; }
  int64_t height() const { return y1 - y0; }
  bool operator==(const Window& o) const { return x0 == o.x0 && y0 == o.y0 && x1 == o.x1 && y1 == o.y1; }
};

// Pictures between stages: interleaved channels, one element type.
struct RowFormat {
  int64_t width = 0, height = 0;
  int channels = 0;
  DType dtype = DType::u8;
  size_t pixel_bytes() const { return size_t(channels) * size_of(dtype); }
};

// SIMD code may read (never write) this many bytes past the end of any row that is pushed.
inline constexpr size_t kRowSlack = 64;

struct RowSink {
  virtual ~RowSink() = default;
  // Where row y should be written, to save a copy; nullptr: the producer uses a buffer of its own.
  // Not one byte past the row's end may be written there.
  virtual void* place(int64_t y) { (void)y; return nullptr; }
  // Whether several rows may be written to their places before the first of them is pushed.
  virtual bool keeps_places() const { return false; }
  // Takes row y, in the producer's coordinates, of the window that was demanded: `row` points at its column x0.
  // Rows come in rising y, each row of the window exactly once. The memory is the producer's: valid for this call only.
  virtual void push(int64_t y, const void* row) = 0;
  // The whole window at once, in memory, with so many bytes from one row to the next and no slack behind it. False: the
  // rows have to be pushed.
  virtual bool take(const void* picture, size_t stride) { (void)picture, (void)stride; return false; }
};

struct RowStage : RowSink {
  RowSink* next = nullptr;
  RowFormat in, out;
  // Fixes the window of the output that will be pushed to `next` (with y in output coordinates and the row pointer
  // at out.x0); returns the window of the input that is needed for it.
  virtual Window demand(const Window& out) = 0;
};

}  // namespace ps
