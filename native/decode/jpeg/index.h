// Where the scan of a JPEG file can be entered without having decoded what comes before: noted once, beforehand. The
// CPU's decoder begins at the row of MCUs that a crop needs; the GPU's has all its threads begin at once.
#pragma once

#include <cstdint>
#include <vector>

#include "decode/jpeg/header.h"

namespace ps::jpeg {

// Before a row of MCUs.
struct IndexRow {
  uint32_t byte = 0;                    // of the file, that holds the next bit
  uint32_t bit = 0;                     // among those of the scan without stuffing and restart markers
  int16_t dc[kMaxComponents] = {};      // predictions
  uint16_t unused = 0;
};

// Where a decoder that goes through the scan (without stuffing and restart markers) leaves each stretch of kBits bits:
// before the first block that begins at the stretch's end or behind. Behind a segment's last block it also stands at
// the segment's end, over the bits that fill its last byte.
struct IndexPart {
  static constexpr uint32_t kBits = 1024;
  // 0-11: bits behind the end; 12-15: block of the MCU; 16-31: blocks since the last part's end.
  uint32_t value = 0;
  uint32_t behind() const { return value & 4095; }
  uint32_t block() const { return value >> 12 & 15; }
  uint32_t blocks() const { return value >> 16; }
};

// Of one file. The memory is somebody else's.
struct ScanIndex {
  const IndexRow* rows = nullptr;       // of all rows of MCUs
  const IndexPart* parts = nullptr;     // of all stretches, the last of which may be shorter
  uint32_t row_count = 0, part_count = 0;
  uint32_t bits = 0;                    // of the scan, without stuffing and restart markers
  uint64_t content = 0;                 // hash of the whole file: content_of() in index_format.h
};

struct OwnScanIndex {
  std::vector<IndexRow> rows;
  std::vector<IndexPart> parts;
  uint32_t bits = 0;
  uint64_t content = 0;
  ScanIndex view() const {
    return {rows.data(), parts.data(), uint32_t(rows.size()), uint32_t(parts.size()), bits, content};
  }
};

// Of a file with a supported header, by decoding it. false: the scan is not sound, or has more than an index can say.
bool index_scan(const uint8_t* data, size_t size, const Header& header, OwnScanIndex& index);

}  // namespace ps::jpeg
