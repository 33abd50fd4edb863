// Tables that decode deflate's Huffman codes, whose bits come lowest first.
//
// A table is looked up by the next `root` bits. An entry says how many bits to consume (its low 6 bits: the code and
// the extra bits behind it), how many of these are the code (bits 8 to 11), and a number (from bit 16 on). A longer
// code's entry names a second table. Entries of literals have one or two of them, and so one look-up decodes two of the
// short codes which photographs mostly have.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ps::png {

enum Entry : uint32_t {
  kLiteral = 1u << 31,       // literals in bits 8 to 15 and 16 to 23, their number from bit 24 on
  kSecond = 1u << 12,        // a second table, which begins at the number and is looked up by bits 8 to 11
  kEnd = 1u << 13,           // of the block
  kInvalid = 1u << 14,       // no such code, or a symbol that must not occur
  kOdd = kSecond | kEnd | kInvalid,
};

inline uint32_t number_of(uint32_t entry) { return entry >> 16; }
inline uint32_t code_bits(uint32_t entry) { return entry >> 8 & 15; }
// The number with the extra bits behind the code added to it.
inline uint32_t value_of(uint32_t entry, uint64_t bits) {
  return number_of(entry) + uint32_t((bits & ((uint64_t(1) << (entry & 63)) - 1)) >> code_bits(entry));
}

struct Huffman {
  int root;                  // bits
  const uint32_t* symbols;   // an entry for each, without its code's bits
  uint32_t* table;
  size_t room;               // in the table

  // From the codes' lengths, of 0 to 15 bits each. False: they make no complete code, which deflate permits only where
  // there is one code at most.
  bool build(const uint8_t* lengths, int count, bool pairs) const;
};

}  // namespace ps::png
