// Decoding and skipping the Huffman-coded coefficients of one 8x8 block: where most of a decoder's time goes.
#pragma once

#include <cstdint>

#include "decode/jpeg/bits.h"
#include "decode/jpeg/huffman.h"

namespace ps::jpeg {

inline constexpr int kLastIndex = 63, kEndOfBlock = 64, kBroken = -1;   // of coefficients, in the file's order

// Adds the block's DC difference to the prediction. false: no such code.
inline bool decode_dc(Bits& bits, const DcTable& table, uint32_t& prediction) {
  bits.refill();
  CodeTable::Code code = table.codes.find(bits.window);
  if (code.length() == 0) return false;
  // Shifted in two steps, as there may be no bits at all.
  prediction += uint32_t(signed_value(bits.window << code.length(), 1, 63 - code.symbol()));
  bits.consume(code.entry);
  return true;
}

struct Step {
  Bits bits;
  int index;   // of the coefficient, kEndOfBlock or kBroken
  int value;   // 0: none
};

// One symbol by the book, for what the tables do not resolve. By value, so that callers keep theirs in registers.
[[gnu::noinline, gnu::cold]] inline Step decode_symbol(Bits bits, const CodeTable& codes, int index) {
  bits.refill();
  CodeTable::Code code = codes.find(bits.window);
  if (code.length() == 0) return {bits, kBroken, 0};
  int run = code.symbol() >> 4, size = code.symbol() & 15, value = 0;
  if (size) value = signed_value(bits.window << code.length(), 64 - size);
  bits.consume(code.entry);
  if (size == 0 && run != 15) return {bits, kEndOfBlock, 0};
  index += size ? run + 1 : 16;
  return {bits, index > kLastIndex ? kBroken : index, value};
}

// Decodes one block into `block`, which holds zeros; place[k] is where the k-th coefficient belongs.
// Returns the index of the last coefficient that may differ from zero, or kBroken.
inline int decode_block(Bits& bits, const DcTable& dc, const AcTable& ac, uint32_t& prediction, const uint16_t* place,
                        int16_t* block) {
  if (!decode_dc(bits, dc, prediction)) return kBroken;
  block[0] = int16_t(prediction);
  uint64_t index = 0;
  for (;;) {
    uint64_t look = 0, to = 0;
    auto take = [&](const AcTable::Entry& entry) {
      uint64_t value = bits.window << (entry.code_length & 63);
      int64_t offset = ~(int64_t(value) >> 63) & entry.negative_offset;
      block[place[index + entry.first_advance]] = int16_t(int64_t(value >> (entry.unused & 63)) + offset);
      block[place[index + entry.second_advance]] = entry.second_value;
      bits.consume(ac.decode_length[look]);
    };
    bits.refill();
#pragma GCC unroll 3
    for (int i = 0; i < 56 / AcTable::kMaxLength; i++) {
      look = bits.peek(AcTable::kDecodeBits);
      to = index + ac.decode[look].advance;
      if (to >= kLastIndex) break;
      take(ac.decode[look]);
      index = to;
    }
    if (to < kLastIndex) continue;
    uint64_t last = to - AcTable::kEndOfBlock;
    if (last >= index && last < kLastIndex) return take(ac.decode[look]), int(last);
    Step step = decode_symbol(bits, ac.codes, int(index));
    bits = step.bits;
    if (step.index == kBroken) return kBroken;
    if (step.index == kEndOfBlock) return int(index);
    index = uint64_t(step.index);
    if (step.value) block[place[index]] = int16_t(step.value);
    if (index == kLastIndex) return kLastIndex;
  }
}

// Passes over one block; of what it holds, only the DC prediction is kept.
inline bool skip_block(Bits& bits, const DcTable& dc, const AcTable& ac, uint32_t& prediction) {
  if (!decode_dc(bits, dc, prediction)) return false;
  uint32_t index = 0;
  for (;;) {
    uint32_t entry = 0, to = 0;
    bits.refill();
#pragma GCC unroll 3
    for (int i = 0; i < 56 / AcTable::kMaxLength; i++) {
      entry = ac.skip[bits.peek(AcTable::kSkipBits)];
      to = index + (entry >> 6);
      if (to >= kLastIndex) break;
      bits.consume(entry);
      index = to;
    }
    if (to < kLastIndex) continue;
    if (to == kLastIndex || (to >= AcTable::kSkipEndOfBlock && to < AcTable::kSkipEndOfBlock + kLastIndex)) {
      bits.consume(entry);
      return true;
    }
    Step step = decode_symbol(bits, ac.codes, int(index));
    bits = step.bits;
    if (step.index == kBroken) return false;
    if (step.index >= kLastIndex) return true;
    index = uint32_t(step.index);
  }
}

}  // namespace ps::jpeg
