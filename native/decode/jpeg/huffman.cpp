#include "decode/jpeg/huffman.h"

#include <algorithm>
#include <cstring>

namespace ps::jpeg {
namespace {

bool same(const HuffmanSpec& a, const HuffmanSpec& b) {
  return std::memcmp(a.counts, b.counts, 16) == 0 && std::memcmp(a.symbols, b.symbols, size_t(a.size)) == 0;
}

uint32_t code_entry(int length, int symbol) { return uint32_t((length + (symbol & 15)) | length << 8 | symbol << 16); }

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

AcTable::Entry decode_entry(const Step* table, uint32_t index, uint8_t& length) {
  length = 0;
  constexpr int n = AcTable::kDecodeBits;
  constexpr uint32_t mask = (1u << n) - 1;
  const Step first = table[index];
  if (first.code_length == 0 || first.length > AcTable::kMaxLength || (first.size == 0 && first.advance != 0))
    return {0, 0, 0, 0, 0, AcTable::kUnresolved, 0};
  int at = first.length, advance = first.advance, second_advance = first.advance + 1, second = 0;
  bool ended = first.advance == 0;
  while (!ended && at < n) {
    const Step& step = table[index << at & mask];
    if (step.code_length == 0 || at + step.length > n) break;
    ended = step.advance == 0;
    if (!ended && (step.size == 0 || step.size > 7 || second != 0)) break;
    at += step.length;
    if (ended) break;
    second_advance = advance += step.advance;
    second = extend(index >> (n - at) & ((1u << step.size) - 1), step.size);
  }
  if (ended) advance += AcTable::kEndOfBlock;
  int size = std::max<int>(first.size, 1);
  length = uint8_t(at);
  return {first.code_length, uint8_t(64 - size), int16_t(1 - (1 << size)), uint8_t(std::max<int>(first.advance, 1)),
          uint8_t(second_advance), uint8_t(advance), int8_t(second)};
}

uint16_t skip_entry(const Step* table, uint32_t index) {
  constexpr int n = AcTable::kSkipBits;
  constexpr uint32_t mask = (1u << n) - 1;
  int at = 0, advance = 0;
  while (at < n) {
    const Step& step = table[index << at & mask];
    if (step.code_length == 0 || at + step.code_length > n || at + step.length > AcTable::kMaxLength) break;
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
  std::fill(std::begin(short_), std::end(short_), 0u);
  uint32_t code = 0;
  int index = 0;
  uint32_t* fill = short_;
  for (int length = 1; length <= 16; length++) {
    offset_[length] = index - int(code);
    if (length <= kBits)
      for (int i = 0; i < spec.counts[length - 1]; i++, fill += 1 << (kBits - length))
        std::fill(fill, fill + (1 << (kBits - length)), code_entry(length, spec.symbols[index + i]));
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
  if (length > 16) return {0};
  return {code_entry(length, symbols_[int(next16 >> (16 - length)) + offset_[length]])};
}

DcTable::DcTable(const HuffmanSpec& s) : spec(s) { codes.build(s); }

AcTable::AcTable(const HuffmanSpec& s) : spec(s) {
  codes.build(s);
  Step table[1 << std::max(kDecodeBits, kSkipBits)];
  steps(s, kDecodeBits, table);
  for (uint32_t i = 0; i < 1u << kDecodeBits; i++) decode[i] = decode_entry(table, i, decode_length[i]);
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
