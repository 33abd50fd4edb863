// Decoding and skipping the Huffman-coded coefficients of one 8x8 block. Everything else that is slow hides behind these loops.
#pragma once

#include <cstdint>

#include "decode/jpeg/bits.h"
#include "decode/jpeg/huffman.h"

namespace ps::jpeg {

inline constexpr int kLastIndex = 63, kEndOfBlock = 64, kBroken = -1;

// The value of `size` bits at the top of the window.
inline int extend_top(uint64_t window, int size) {
  int value = int(window >> 1 >> (63 - size));
  return value < (1 << size >> 1) ? value + 1 - (1 << size) : value;
}

// Adds the block's DC difference to the prediction. false: no such code.
inline bool decode_dc(Bits& bits, const DcTable& table, uint32_t& prediction) {
  bits.refill();
  CodeTable::Code code = table.codes.find(bits.window);
  if (code.length == 0) return false;
  prediction += uint32_t(extend_top(bits.window << code.length, code.symbol));
  bits.consume(uint64_t(code.length + code.symbol));
  return true;
}

// One symbol by the book, for what the tables do not resolve. Returns the new index, kEndOfBlock or kBroken.
template <class Store>
[[gnu::noinline]] int decode_symbol(Bits& bits, const CodeTable& codes, int index, Store store) {
  bits.refill();
  CodeTable::Code code = codes.find(bits.window);
  if (code.length == 0) return kBroken;
  int run = code.symbol >> 4, size = code.symbol & 15;
  if (size == 0 && run != 15) {
    bits.consume(uint64_t(code.length));
    return kEndOfBlock;
  }
  index += size ? run + 1 : 16;
  if (index > kLastIndex) return kBroken;
  if (size) store(index, int16_t(extend_top(bits.window << code.length, size)));
  bits.consume(uint64_t(code.length + size));
  return index;
}

// Decodes one block into `block`, which holds zeros; place[k] is where the k-th coefficient belongs.
// Returns the index of the last coefficient that may differ from zero, or kBroken.
inline int decode_block(Bits& bits, const DcTable& dc, const AcTable& ac, uint32_t& prediction, const uint16_t* place,
                        int16_t* block) {
  if (!decode_dc(bits, dc, prediction)) return kBroken;
  block[0] = int16_t(prediction);
  int index = 0;
  for (;;) {
    uint64_t entry = 0;
    int to = 0;
    bits.refill();
#pragma GCC unroll 5
    for (int i = 0; i < 56 / AcTable::kDecodeBits; i++) {
      entry = ac.decode[bits.peek(AcTable::kDecodeBits)];
      to = index + uint8_t(entry >> 16);
      if (to >= kLastIndex) break;
      bits.consume(uint8_t(entry));
      block[place[index + uint8_t(entry >> 8)]] = int16_t(entry >> 32);
      block[place[to]] = int16_t(entry >> 48);
      index = to;
    }
    if (to < kLastIndex) continue;
    int end = to - AcTable::kEndOfBlock;
    if (to == kLastIndex || (end >= index && end < kLastIndex)) {
      bits.consume(uint8_t(entry));
      if (to == kLastIndex) end = to;
      if (end > index) {
        block[place[index + uint8_t(entry >> 8)]] = int16_t(entry >> 32);
        block[place[end]] = int16_t(entry >> 48);
      }
      return end;
    }
    int next = decode_symbol(bits, ac.codes, index, [&](int k, int16_t value) { block[place[k]] = value; });
    if (next == kBroken) return kBroken;
    if (next == kEndOfBlock) return index;
    if ((index = next) == kLastIndex) return index;
  }
}

// Passes over one block; of what it holds, only the DC prediction is kept.
inline bool skip_block(Bits& bits, const DcTable& dc, const AcTable& ac, uint32_t& prediction) {
  if (!decode_dc(bits, dc, prediction)) return false;
  int index = 0;
  for (;;) {
    uint32_t entry = 0;
    int to = 0;
    bits.refill();
#pragma GCC unroll 3
    for (int i = 0; i < 56 / AcTable::kMaxSkipLength; i++) {
      entry = ac.skip[bits.peek(AcTable::kSkipBits)];
      to = index + int(entry >> 6);
      if (to >= kLastIndex) break;
      bits.consume(entry & 63);
      index = to;
    }
    if (to < kLastIndex) continue;
    if (to == kLastIndex || (to >= AcTable::kSkipEndOfBlock && to < AcTable::kSkipEndOfBlock + kLastIndex)) {
      bits.consume(entry & 63);
      return true;
    }
    int next = decode_symbol(bits, ac.codes, index, [](int, int16_t) {});
    if (next == kBroken) return false;
    if (next == kEndOfBlock || next == kLastIndex) return true;
    index = next;
  }
}

}  // namespace ps::jpeg
