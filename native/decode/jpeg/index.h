// Where decoders may begin within the scan of a JPEG file without decoding what comes before (a "gap array" in the
// literature): recorded once, beforehand. The CPU's decoder begins at the row of MCUs that a crop needs; the GPU's has
// all its threads begin at once.
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

// Where a decoder that goes through the scan (without stuffing and restart markers) leaves each subsequence of kBits
// bits: before the first block that begins at the subsequence's end or behind. Behind a segment's last block it also
// stands at the segment's end, over the bits that fill its last byte.
struct IndexSubsequence {
  static constexpr uint32_t kBits = 1024;
  // 0-11: bits behind the end; 12-15: block of the MCU; 16-31: blocks since the end of the one before.
  uint32_t value = 0;
  uint32_t behind() const { return value & 4095; }
  uint32_t block() const { return value >> 12 & 15; }
  uint32_t blocks() const { return value >> 16; }
};

// Of one file. It does not own the memory.
struct ScanIndex {
  const IndexRow* rows = nullptr;       // of all rows of MCUs
  const IndexSubsequence* subsequences = nullptr;      // the last of which may be shorter
  uint32_t row_count = 0, subsequence_count = 0;
  uint32_t bits = 0;                    // of the scan, without stuffing and restart markers
  uint64_t content = 0;                 // hash of the whole file: content_of() in index_format.h
};

struct OwnScanIndex {
  std::vector<IndexRow> rows;
  std::vector<IndexSubsequence> subsequences;
  uint32_t bits = 0;
  uint64_t content = 0;
  ScanIndex view() const {
    return {rows.data(), subsequences.data(), uint32_t(rows.size()), uint32_t(subsequences.size()), bits, content};
  }
};

// Of a file with a supported header, by decoding it. false: the scan is not sound, or has more than an index can say.
bool index_scan(const uint8_t* data, size_t size, const Header& header, OwnScanIndex& index);

}  // namespace ps::jpeg
