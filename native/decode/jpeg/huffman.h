// Huffman tables in the form in which they decode fastest.
//
// Decoding is bound by the latency of "look up, shift, look up again", and by mispredicted branches. So each look-up of
// an AC table yields as much as possible: up to two coefficients and the end of the block; and all but the rarest codes
// take the same way.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "decode/jpeg/bits.h"
#include "decode/jpeg/header.h"

namespace ps::jpeg {

// Any code, short or long, to its symbol, of which the low four bits are the number of bits that follow.
class CodeTable {
 public:
  static constexpr int kBits = 9;

  struct Code {
    uint32_t entry;   // bits 0-5 length with the bits that follow, 8-15 length, 16-23 symbol
    int length() const { return entry >> 8 & 255; }   // 0: no such code
    int symbol() const { return int(entry >> 16); }
  };

  void build(const HuffmanSpec& spec);
  Code find(uint64_t window) const {     // the code at the top of `window`
    uint32_t entry = short_[window >> (64 - kBits)];
    return entry ? Code{entry} : find_long(uint32_t(window >> 48));
  }

 private:
  Code find_long(uint32_t next16) const;

  uint32_t short_[1 << kBits];   // 0: longer than kBits
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
  static constexpr int kDecodeBits = 11, kSkipBits = 12;
  // No look-up takes more bits than this. The code of its last value must lie within the bits looked at, not the value.
  static constexpr int kMaxLength = 18;

  // Positions are counted from the last coefficient: a run of r zeros before a value advances by r + 1.
  static constexpr int kEndOfBlock = 128;   // added to the advance
  static constexpr int kUnresolved = 255;   // as advance: the table does not know; nothing is consumed
  // The same for `skip`: above any sum of advances, so that no sequence of runs can be taken for an end.
  static constexpr int kSkipEndOfBlock = 256, kSkipUnresolved = 512;

  // Two coefficients, one, or none and the end of the block. The first value is computed (it may be long), the second
  // is stored here. Those that there are not are written as zeros where nothing has been written yet: cheaper than a
  // branch. Fields are whole bytes, since processors have more ports for loads than for shifts. Lengths are apart: to
  // go on, nothing else is needed, and their address is ready a cycle earlier.
  struct Entry {
    uint8_t code_length;       // of the first code
    uint8_t unused;            // 64 less the first value's size
    int16_t negative_offset;   // what to add to the first value's bits if it is negative
    uint8_t first_advance, second_advance, advance;   // to the first value, the second, the last
    int8_t second_value;
  };

  HuffmanSpec spec;
  CodeTable codes;
  uint8_t decode_length[1 << kDecodeBits];
  Entry decode[1 << kDecodeBits];
  uint16_t skip[1 << kSkipBits];   // bits 0-5 length, from bit 6 the advance

  explicit AcTable(const HuffmanSpec& spec);   // does not fill `skip`, which whole pictures do not need
  void prepare_skip();

 private:
  bool can_skip_ = false;
};

// For the scans of progressive files, which mostly have tables of their own: quick to make.
struct ScanTable {
  static constexpr int kBits = 10;

  // A coefficient, or 16 zeros (a value of 0), with all of their bits; or, where `advance` is 0, the end of 2^value
  // blocks and of as many more as the next bits say. Length 0: none of these within kBits.
  struct Entry {
    int16_t value;
    uint8_t length, advance;
  };

  CodeTable codes;
  Entry entries[1 << kBits];

  void build(const HuffmanSpec& spec);
};

// The most recently used tables: the pictures of a data set often share theirs.
template <class Table>
class TableCache {
 public:
  Table& get(const HuffmanSpec& spec);

 private:
  static constexpr size_t kCapacity = 8;
  std::vector<std::unique_ptr<Table>> tables_;   // most recent first
};

}  // namespace ps::jpeg
