#include "decode/jpeg/huffman.h"

#include <algorithm>
#include <cstring>

namespace ps::jpeg {
namespace {

bool same(const HuffmanSpec& a, const HuffmanSpec& b) {
  return std::memcmp(a.counts, b.counts, 16) == 0 && std::memcmp(a.symbols, b.symbols, size_t(a.size)) == 0;
}

// What the bits after a code mean: the sign is the first one, negative values are stored one too low.
int extend(uint32_t bits, int size) { return bits >> (size - 1) ? int(bits) : int(bits) - (1 << size) + 1; }

// One symbol for each possible content of n bits.
struct Step {
  uint8_t code_length;   // 0: the code is longer than n bits
  uint8_t length;        // of code and value, which may be more than n
  uint8_t advance;       // run + 1; ZRL: 16; 0: end of the block
  uint8_t size;          // of the value; 0: none
};

void steps(const HuffmanSpec& spec, int n, Step* table) {
  std::fill(table, table + (1 << n), Step{0, 0, 0, 0});
  int symbol_index = 0;
  Step* fill = table;
  for (int length = 1; length <= n; length++)
    for (int i = 0; i < spec.counts[length - 1]; i++, fill += 1 << (n - length)) {
      int symbol = spec.symbols[symbol_index++], run = symbol >> 4, size = symbol & 15;
      int advance = size ? run + 1 : run == 15 ? 16 : 0;
      std::fill(fill, fill + (1 << (n - length)),
                Step{uint8_t(length), uint8_t(length + size), uint8_t(advance), uint8_t(size)});
    }
}

uint64_t decode_entry(const Step* table, uint32_t index) {
  constexpr int n = AcTable::kDecodeBits;
  constexpr uint32_t mask = (1u << n) - 1;
  int at = 0, advance = 0, first_advance = 0, count = 0, values[2] = {0, 0};
  for (;;) {
    const Step& step = table[index << at & mask];
    if (step.code_length == 0 || at + step.length > n) break;
    if (step.advance == 0) {
      at += step.length;
      advance += AcTable::kEndOfBlock;
      break;
    }
    if (step.size == 0 || count == 2) break;
    at += step.length;
    advance += step.advance;
    values[count] = extend(index >> (n - at) & ((1u << step.size) - 1), step.size);
    if (count++ == 0) first_advance = advance, values[1] = values[0];
  }
  if (at == 0) return uint64_t(AcTable::kUnresolved) << 16;
  if (count == 1) first_advance = advance % AcTable::kEndOfBlock;
  return uint64_t(at) | uint64_t(first_advance) << 8 | uint64_t(advance) << 16 | uint64_t(uint16_t(values[0])) << 32 |
         uint64_t(uint16_t(values[1])) << 48;
}

uint16_t skip_entry(const Step* table, uint32_t index) {
  constexpr int n = AcTable::kSkipBits;
  constexpr uint32_t mask = (1u << n) - 1;
  int at = 0, advance = 0;
  while (at < n) {
    const Step& step = table[index << at & mask];
    if (step.code_length == 0 || at + step.code_length > n || at + step.length > AcTable::kMaxSkipLength) break;
    at += step.length;
    advance += step.advance ? step.advance : AcTable::kSkipEndOfBlock;
    if (step.advance == 0) break;
  }
  if (at == 0) advance = AcTable::kSkipUnresolved;
  return uint16_t(at | advance << 6);
}

}  // namespace

void CodeTable::build(const HuffmanSpec& spec) {
  std::memcpy(symbols_, spec.symbols, sizeof symbols_);
  std::fill(std::begin(short_), std::end(short_), uint16_t(0));
  uint32_t code = 0;
  int index = 0;
  uint16_t* fill = short_;
  for (int length = 1; length <= 16; length++) {
    offset_[length] = index - int(code);
    if (length <= kBits)
      for (int i = 0; i < spec.counts[length - 1]; i++, fill += 1 << (kBits - length))
        std::fill(fill, fill + (1 << (kBits - length)), uint16_t(length << 8 | spec.symbols[index + i]));
    code += spec.counts[length - 1];
    index += spec.counts[length - 1];
    limit_[length] = code << (16 - length);
    code <<= 1;
  }
  limit_[17] = ~0u;
}

CodeTable::Code CodeTable::find_long(uint32_t next16) const {
  int length = kBits + 1;
  while (next16 >= limit_[length]) length++;
  if (length > 16) return {0, 0};
  return {length, symbols_[int(next16 >> (16 - length)) + offset_[length]]};
}

DcTable::DcTable(const HuffmanSpec& s) : spec(s) { codes.build(s); }

AcTable::AcTable(const HuffmanSpec& s) : spec(s) {
  codes.build(s);
  Step table[1 << std::max(kDecodeBits, kSkipBits)];
  steps(s, kDecodeBits, table);
  for (uint32_t i = 0; i < 1u << kDecodeBits; i++) decode[i] = decode_entry(table, i);
  steps(s, kSkipBits, table);
  for (uint32_t i = 0; i < 1u << kSkipBits; i++) skip[i] = skip_entry(table, i);
}

template <class Table>
const Table& TableCache<Table>::get(const HuffmanSpec& spec) {
  auto found = std::find_if(tables_.begin(), tables_.end(), [&](const auto& t) { return same(t->spec, spec); });
  if (found == tables_.end()) {
    if (tables_.size() < kCapacity)
      tables_.push_back(std::make_unique<Table>(spec));
    else
      *tables_.back() = Table(spec);
    found = tables_.end() - 1;
  }
  std::rotate(tables_.begin(), found, found + 1);
  return *tables_.front();
}

template class TableCache<DcTable>;
template class TableCache<AcTable>;

}  // namespace ps::jpeg
