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
  bool progressive = false;    // ProgressiveDecoder can
  size_t sos = 0;              // where the marker of the first scan stands

  int mcu_width() const { return 8 * h_max; }
  int mcu_height() const { return 8 * v_max; }
  int mcus_per_row() const { return (width + mcu_width() - 1) / mcu_width(); }
  int mcu_rows() const { return (height + mcu_height() - 1) / mcu_height(); }
};

// One scan of a progressive file: some bits of coefficients `first` to `last`, in the file's order, of some components.
struct Scan {
  int components = 0;
  int component[kMaxComponents] = {};
  int dc[kMaxComponents] = {}, ac[kMaxComponents] = {};   // tables
  int first = 0, last = 0;
  int high = 0, low = 0;       // bits from `low` on; those from `high` on came before, if it is not 0
  size_t data = 0;             // where its entropy-coded data begins
};

enum class ScanStatus { scan, end, broken };

// Reads the markers from `at` to the next scan, with their tables, or to the end of the picture. broken: or something
// in between that an encoder would not write.
ScanStatus next_scan(const uint8_t* data, size_t size, size_t at, Header& header, Scan& scan);

// Whether these are codes of which none is the beginning of another.
bool is_prefix_code(const HuffmanSpec& spec);
// And each of them is a number of bits, as of differences of means.
bool is_code_of_means(const HuffmanSpec& spec);

// Reads the markers up to the first scan. false: not a JPEG file, or its markers are broken. Allocates nothing.
bool parse(const uint8_t* data, size_t size, Header& header);

}  // namespace ps::jpeg
