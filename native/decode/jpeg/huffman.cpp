#include "decode/jpeg/huffman.h"

#include <algorithm>
#include <cstring>

namespace ps::jpeg {
namespace {

bool same(const HuffmanSpec& a, const HuffmanSpec& b) {
  return std::memcmp(a.counts, b.counts, 16) == 0 && std::memcmp(a.symbols, b.symbols, size_t(a.size)) == 0;
}

uint32_t code_entry(int length, int symbol) { return uint32_t((length + (symbol & 15)) | length << 8 | symbol << 16); }

// One code, and what follows from its symbol.
struct Step {
  uint32_t code;
  int code_length, length;   // length: with the value's bits
  int advance;               // run + 1; ZRL: 16; 0: end of the block
  int size;                  // of the value; 0: none
};

template <class Use>
void for_codes(const HuffmanSpec& spec, int max_length, Use use) {
  uint32_t code = 0;
  int index = 0;
  for (int length = 1; length <= max_length; length++, code <<= 1)
    for (int i = 0; i < spec.counts[length - 1]; i++, code++) {
      int symbol = spec.symbols[index++], run = symbol >> 4, size = symbol & 15;
      use(Step{code, length, length + size, size ? run + 1 : run == 15 ? 16 : 0, size});
    }
}

// The value that these bits mean.
int extend(int bits, int size) { return bits >> (size - 1) ? bits : bits - (1 << size) + 1; }

// What the bits after a first value may add to an entry of the table.
struct Second {
  uint8_t length, advance, second_advance;
  int8_t value;
};

// table: for each content of n bits.
void build_second(const HuffmanSpec& spec, int n, Second* table) {
  std::fill(table, table + (1 << n), Second{});
  Step end{};
  for_codes(spec, n, [&](const Step& step) { if (step.advance == 0) end = step; });
  for_codes(spec, n, [&](const Step& step) {
    if (step.length > n || step.size > 7 || (step.size == 0 && step.advance != 0)) return;
    int rest = n - step.length;   // bits behind this step
    Second* fill = table + (step.code << (n - step.code_length));
    if (step.advance == 0) {
      std::fill(fill, fill + (1 << rest), Second{uint8_t(step.length), AcTable::kEndOfBlock, 0, 0});
      return;
    }
    for (int bits = 0; bits < 1 << step.size; bits++, fill += 1 << rest) {
      Second second{uint8_t(step.length), uint8_t(step.advance), uint8_t(step.advance - 1),
                    int8_t(extend(bits, step.size))};
      std::fill(fill, fill + (1 << rest), second);
      if (end.code_length == 0 || end.length > rest) continue;
      second.length = uint8_t(step.length + end.length);
      second.advance = uint8_t(step.advance + AcTable::kEndOfBlock);
      Second* ended = fill + (end.code << (rest - end.length));
      std::fill(ended, ended + (1 << (rest - end.length)), second);
    }
  });
}

// The part of a look-up of `skip` from which on r bits are left to look at, for each content of these: its own sum of
// lengths, and from bit 6 of advances; 0: nothing is resolved. `shorter[i]` are the same for i < r bits.
void build_skip(const HuffmanSpec& spec, int r, const uint16_t* const* shorter, uint16_t* table) {
  std::fill(table, table + (1 << r), uint16_t(0));
  for_codes(spec, r, [&](const Step& step) {
    uint16_t* fill = table + (step.code << (r - step.code_length));
    int codes = 1 << (r - step.code_length), advance = step.advance ? step.advance : AcTable::kSkipEndOfBlock;
    uint16_t entry = uint16_t(step.length | advance << 6);
    if (step.advance == 0)
      std::fill(fill, fill + codes, entry);
    else if (step.length > r)
      std::fill(fill, fill + codes, AcTable::kSkipBits - r + step.length > AcTable::kMaxLength ? uint16_t(0) : entry);
    else
      for (int rest = 1 << (r - step.length), bits = 0; bits < 1 << step.size; bits++, fill += rest)
        for (int i = 0; i < rest; i++) fill[i] = uint16_t(entry + shorter[r - step.length][i]);
  });
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
  constexpr int n = kDecodeBits;
  codes.build(s);
  std::fill(std::begin(decode_length), std::end(decode_length), uint8_t(0));
  std::fill(std::begin(decode), std::end(decode), Entry{0, 0, 0, 0, 0, kUnresolved, 0});
  Second seconds[1 << n];   // those for r bits from 1 << r on
  for (int r = 0; r < n; r++) build_second(s, r, seconds + (1 << r));
  for_codes(s, n, [&](const Step& step) {
    if (step.length > kMaxLength || (step.size == 0 && step.advance != 0)) return;
    int size = std::max(step.size, 1), first_advance = std::max(step.advance, 1);
    Entry entry{uint8_t(step.code_length), uint8_t(64 - size), int16_t(1 - (1 << size)), uint8_t(first_advance),
                uint8_t(step.advance + 1), uint8_t(step.advance ? step.advance : kEndOfBlock), 0};
    // What follows is the same for each content of the value's bits.
    int begin = int(step.code) << (n - step.code_length), count = 1 << (n - step.code_length);
    int period = step.advance != 0 && step.length < n ? 1 << (n - step.length) : 1;
    const Second* second = seconds + period;   // those for no bits at all are zero
    for (int i = begin; i < begin + period; i++, second++) {
      decode_length[i] = uint8_t(step.length + second->length);
      decode[i] = entry;
      decode[i].advance = uint8_t(entry.advance + second->advance);
      decode[i].second_advance = uint8_t(entry.second_advance + second->second_advance);
      decode[i].second_value = second->value;
    }
    for (int done = period; done < count; done *= 2) {
      std::copy_n(decode + begin, done, decode + begin + done);
      std::copy_n(decode_length + begin, done, decode_length + begin + done);
    }
  });
}

void AcTable::prepare_skip() {
  if (can_skip_) return;
  can_skip_ = true;
  uint16_t parts[1 << kSkipBits];
  const uint16_t* shorter[kSkipBits];
  for (int r = 0; r < kSkipBits; r++) {
    build_skip(spec, r, shorter, parts + (1 << r));
    shorter[r] = parts + (1 << r);
  }
  build_skip(spec, kSkipBits, shorter, skip);
  for (uint16_t& entry : skip)
    if (entry == 0) entry = kSkipUnresolved << 6;
}

void ScanTable::build(const HuffmanSpec& spec) {
  constexpr int n = kBits;
  codes.build(spec);
  std::fill(std::begin(entries), std::end(entries), Entry{0, 0, 0});
  uint32_t code = 0;
  int index = 0;
  for (int length = 1; length <= n; length++, code <<= 1)
    for (int i = 0; i < spec.counts[length - 1]; i++, code++) {
      const int symbol = spec.symbols[index++], run = symbol >> 4, size = symbol & 15, rest = n - length - size;
      Entry* fill = entries + (code << (n - length));
      if (size == 0) {
        const Entry entry{int16_t(run == 15 ? 0 : run), uint8_t(length), uint8_t(run == 15 ? 16 : 0)};
        std::fill(fill, fill + (1 << (n - length)), entry);
      } else if (rest >= 0) {
        for (int bits = 0; bits < 1 << size; bits++, fill += 1 << rest)
          std::fill(fill, fill + (1 << rest),
                    Entry{int16_t(extend(bits, size)), uint8_t(length + size), uint8_t(run + 1)});
      }
    }
}

template <class Table>
Table& TableCache<Table>::get(const HuffmanSpec& spec) {
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
