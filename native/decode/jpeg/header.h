// What stands before the entropy-coded data of a JPEG file.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ps::jpeg {

inline constexpr int kMaxComponents = 3;
inline constexpr int kMaxBlocksInMcu = 10;   // the standard's limit for one interleaved scan

// A Huffman table as the file states it: how many codes of 1..16 bits there are, and their symbols.
struct HuffmanSpec {
  uint8_t counts[16] = {};
  uint8_t symbols[256] = {};
  int size = 0;   // symbols in use; 0: not defined
};

struct Component {
  int id = 0;
  int h = 1, v = 1;            // sampling factors
  int quant = 0, dc = 0, ac = 0;   // indices of tables
  int width = 0, height = 0;   // samples that carry picture, without the padding to whole blocks
};

struct Header {
  int width = 0, height = 0;   // as stored: EXIF orientation is not looked at
  int components = 0;          // as the frame header states it: 4 is possible, but not supported
  Component component[kMaxComponents];
  int h_max = 1, v_max = 1;
  uint16_t quant[4][64] = {};  // row by row, not in zigzag order
  bool has_quant[4] = {};
  HuffmanSpec dc[4], ac[4];
  int restart_interval = 0;    // in MCUs; 0: none
  bool ycc = false;            // three components are YCbCr, as libjpeg decides it; otherwise RGB
  size_t scan = 0;             // where the entropy-coded data begins
  bool lossless = false;       // SOF3: LosslessDecoder's
  bool baseline = false;       // SOF0: what decoders in hardware are made for
  bool supported = false;      // Decoder can decode it

  int mcu_width() const { return 8 * h_max; }
  int mcu_height() const { return 8 * v_max; }
  int mcus_per_row() const { return (width + mcu_width() - 1) / mcu_width(); }
  int mcu_rows() const { return (height + mcu_height() - 1) / mcu_height(); }
};

// Reads the markers up to the first scan. false: not a JPEG file, or its markers are broken. Allocates nothing.
bool parse(const uint8_t* data, size_t size, Header& header);

}  // namespace ps::jpeg
