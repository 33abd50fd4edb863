// The rows that a decoder gives, and whether they are libjpeg's.
#pragma once

#include <cstring>

#include "jpeg_files.h"

namespace jpeg_files {

// Collects rows, in memory of its own or by copying.
struct Collector : ps::RowSink {
  int64_t y0 = 0, next = 0;
  size_t row_bytes = 0;
  bool places = false;
  Bytes rows;
  static constexpr uint8_t kGuard = 0xA5;

  Collector(const ps::Window& window, int channels, bool give_place)
      : y0(window.y0), next(window.y0), row_bytes(size_t(window.width() * channels)), places(give_place),
        rows(size_t(window.height()) * row_bytes + 1, kGuard) {}
  void* place(int64_t y) override { return places ? rows.data() + size_t(y - y0) * row_bytes : nullptr; }
  void push(int64_t y, const void* row) override {
    if (y != next++) std::printf("row %ld out of turn\n", long(y)), std::exit(1);
    uint8_t* to = rows.data() + size_t(y - y0) * row_bytes;
    if (row != to) std::memcpy(to, row, row_bytes);
    if (to[row_bytes] != kGuard) std::printf("row %ld is too long\n", long(y)), std::exit(1);
  }
};

inline bool equal(const Collector& got, const Picture& full, const ps::Window& w) {
  if (got.next != w.y1) return false;
  for (int64_t y = w.y0; y < w.y1; y++)
    if (std::memcmp(&full.pixels[size_t((y * full.width + w.x0) * full.channels)],
                    &got.rows[size_t(y - w.y0) * got.row_bytes], got.row_bytes) != 0)
      return false;
  return true;
}

}  // namespace jpeg_files
