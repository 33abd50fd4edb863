// Lossless JPEG (process 14 of the standard: prediction and Huffman codes), of 2 to 16 bits and 1 to 4 components.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "decode/jpeg/huffman.h"
#include "decode/jpeg/segments.h"

namespace ps::jpeg {

class LosslessDecoder {
 public:
  // Decodes at least rows 0 to `rows`. Throws Error(decode).
  void decode(const uint8_t* data, size_t size, int64_t rows);

  int64_t width() const { return width_; }
  int components() const { return components_; }
  // Interleaved, as stored: numbers of so many bits as the frame header says.
  const uint16_t* pixels() const { return pixels_.data(); }

 private:
  struct Scan {
    int count = 0, predictor = 1, shift = 0;       // of components; of bits, the "point transform"
    int component[4] = {}, table[4] = {};
  };
  struct Segment;
  void frame_header(const uint8_t* p, size_t bytes, int64_t rows);
  void make_room(size_t bytes);
  void huffman_tables(const uint8_t* p, size_t bytes);
  Scan scan_header(const uint8_t* p, size_t bytes) const;
  void scan(const Scan& s, const uint8_t* data, size_t size);
  template <int kPredictor> void row(const Scan& s, Segment& from, int64_t y, bool first);

  int64_t width_ = 0, height_ = 0, rows_ = 0, restart_interval_ = 0;   // in pixels
  int components_ = 0, bits_ = 0;
  int ids_[4] = {};
  bool has_table_[4] = {};
  CodeTable tables_[4];
  Segments segments_;
  std::vector<uint16_t> pixels_;
};

}  // namespace ps::jpeg
