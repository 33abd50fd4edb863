#include "decode/png/huffman.h"

#include <algorithm>
#include <cstring>

namespace ps::png {
namespace {

constexpr int kMaxBits = 15, kMaxSymbols = 288;

// The next code, whose bits are in reverse order: one is added at the top.
uint32_t next_code(uint32_t code, int length) {
  uint32_t bit = 1u << (length - 1);
  while (code & bit) bit >>= 1;
  return bit ? (code & (bit - 1)) | bit : 0;
}

uint32_t entry_of(uint32_t symbol, int length) {
  return symbol + uint32_t(length) * (symbol & kLiteral ? 1 : 0x101);
}

// Codes by their lengths, and of one length by their symbols: the order in which deflate counts them up.
struct Codes {
  int count[kMaxBits + 1] = {}, first[kMaxBits + 2] = {}, literals[kMaxBits + 1] = {};
  uint16_t symbol[kMaxSymbols];
  uint16_t code[kMaxSymbols];

  // False where there are too many codes, or too few.
  bool assign(const uint8_t* lengths, int symbols) {
    for (int i = 0; i < symbols; i++) count[lengths[i]]++;
    count[0] = 0;
    int left = 1;
    for (int n = 1; n <= kMaxBits; n++) {
      left = 2 * left - count[n];
      if (left < 0) return false;
      first[n + 1] = first[n] + count[n];
    }
    const int all = first[kMaxBits + 1];
    if (left > 0 && (all > 1 || count[1] != all)) return false;
    int next[kMaxBits + 1];
    std::copy(first, first + kMaxBits + 1, next);
    for (int i = 0; i < symbols; i++) {
      const int n = lengths[i];
      if (n == 0) continue;
      symbol[next[n]++] = uint16_t(i);
      literals[n] += i < 256;
    }
    uint32_t at = 0;
    for (int n = 1; n <= kMaxBits; n++)
      for (int i = first[n]; i < first[n + 1]; i++) {
        code[i] = uint16_t(at);
        at = next_code(at, n);
      }
    return true;
  }
};

// Two literals whose codes have so many bits together.
void add_pairs(const Codes& c, uint32_t* table, int bits) {
  for (int n = 1; n < bits; n++) {
    const int rest = bits - n, from = c.first[rest], end = from + c.literals[rest];
    for (int i = c.first[n]; i < c.first[n] + c.literals[n]; i++) {
      const uint32_t entry = kLiteral | 2u << 24 | uint32_t(c.symbol[i]) << 8 | uint32_t(bits);
      for (int k = from; k < end; k++) table[c.code[i] | c.code[k] << n] = entry | uint32_t(c.symbol[k]) << 16;
    }
  }
}

}  // namespace

bool Huffman::build(const uint8_t* lengths, int count, bool pairs) const {
  Codes c;
  if (!c.assign(lengths, count)) return false;
  // A table for codes of up to n bits is twice that for n - 1, with the codes of n bits put into it.
  std::fill_n(table, 2, uint32_t(kInvalid));
  for (int n = 1; n <= root; n++) {
    if (n > 1) std::memcpy(table + (size_t(1) << (n - 1)), table, sizeof *table << (n - 1));
    for (int i = c.first[n]; i < c.first[n + 1]; i++) table[c.code[i]] = entry_of(symbols[c.symbol[i]], n);
    if (pairs) add_pairs(c, table, n);
  }
  size_t end = size_t(1) << root, second = 0;
  uint32_t prefix = ~0u;
  int bits = 0;
  for (int n = root + 1; n <= kMaxBits; n++)
    for (int i = c.first[n]; i < c.first[n + 1]; i++) {
      const uint32_t root_bits = c.code[i] & ((1u << root) - 1);
      if (root_bits != prefix) {
        prefix = root_bits;
        // As many bits as it takes for the codes that are left to fill it.
        bits = n - root;
        for (int room = (1 << bits) - (c.first[n + 1] - i); room > 0 && bits + root < kMaxBits;) {
          bits++;
          room = 2 * room - c.count[bits + root];
        }
        second = end;
        end += size_t(1) << bits;
        if (end > room) return false;
        table[prefix] = kSecond | uint32_t(second) << 16 | uint32_t(bits) << 8 | uint32_t(root);
      }
      const uint32_t entry = entry_of(symbols[c.symbol[i]], n - root);
      for (size_t at = c.code[i] >> root; at < size_t(1) << bits; at += size_t(1) << (n - root))
        table[second + at] = entry;
    }
  return true;
}

}  // namespace ps::png
