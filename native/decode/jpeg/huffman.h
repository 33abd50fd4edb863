// Huffman tables in the form in which they decode fastest.
//
// Decoding is bound by the latency of "look up, shift, look up again", so each look-up should yield as much as possible: the
// tables for AC coefficients hold up to two whole coefficients, values included, and the end of the block.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "decode/jpeg/header.h"

namespace ps::jpeg {

// Any code, short or long, to its symbol.
class CodeTable {
 public:
  static constexpr int kBits = 9;
  struct Code { int length, symbol; };   // length 0: no such code

  void build(const HuffmanSpec& spec);
  Code find(uint64_t window) const {     // the code at the top of `window`
    uint16_t entry = short_[window >> (64 - kBits)];
    return entry ? Code{entry >> 8, entry & 255} : find_long(uint32_t(window >> 48));
  }

 private:
  Code find_long(uint32_t next16) const;

  uint16_t short_[1 << kBits];   // length * 256 + symbol; 0: longer than kBits
  uint32_t limit_[18];           // codes of n bits, shifted to 16 bits, are below limit_[n]
  int32_t offset_[17];           // from a code of n bits to its index in symbols_
  uint8_t symbols_[256];
};

struct DcTable {
  HuffmanSpec spec;
  CodeTable codes;
  explicit DcTable(const HuffmanSpec& spec);
};

struct AcTable {
  // Where a look-up's coefficients lie is counted from the previous one: a run of r zeros before a value advances by r + 1.
  static constexpr int kEndOfBlock = 128;   // added to the advance
  static constexpr int kUnresolved = 255;   // as advance: what the table cannot resolve; nothing is consumed

  // One look-up of `decode`: bits 0-7 length, 8-15 advance to the first value, 16-23 advance in all, 32-47 first value,
  // 48-63 second value (the first once more where there is only one).
  static constexpr int kDecodeBits = 11;
  // One look-up of `skip`: bits 0-5 length, from bit 6 the advance. The last value's bits need not lie within kSkipBits.
  static constexpr int kSkipBits = 12;
  static constexpr int kMaxSkipLength = 18;
  // Above any sum of advances, so that no sequence of runs can be taken for an end.
  static constexpr int kSkipEndOfBlock = 256, kSkipUnresolved = 512;

  HuffmanSpec spec;
  CodeTable codes;
  uint64_t decode[1 << kDecodeBits];
  uint16_t skip[1 << kSkipBits];
  explicit AcTable(const HuffmanSpec& spec);
};

// The most recently used tables: the pictures of a data set mostly share theirs.
template <class Table>
class TableCache {
 public:
  const Table& get(const HuffmanSpec& spec);

 private:
  static constexpr size_t kCapacity = 8;
  std::vector<std::unique_ptr<Table>> tables_;   // most recent first
};

}  // namespace ps::jpeg
