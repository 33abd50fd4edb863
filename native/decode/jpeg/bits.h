// A reader of bits, most significant first, from bytes without stuffing.
#pragma once

#include <cstdint>
#include <cstring>

namespace ps::jpeg {

struct Bits {
  const uint8_t* next = nullptr;   // 8 bytes here must be readable whenever refill() is called
  uint64_t window = 0;             // the next bits, at the top
  uint64_t count = 0;              // modulo 64: how many of them are valid

  void start(const uint8_t* data) {
    next = data;
    window = count = 0;
  }

  // At least 56 bits are valid afterwards. Branch-free: bits that are there already are simply read again.
  void refill() {
    uint64_t bytes;
    std::memcpy(&bytes, next, 8);
    window |= __builtin_bswap64(bytes) >> (count & 63);
    next += 7 - (count >> 3 & 7);
    count = 56 + (count & 7);   // not `|= 56`: compilers would join it with the `|=` above in a vector, at a loss
  }

  uint64_t peek(int n) const { return window >> (64 - n); }

  // Table entries hold the number in their low 6 bits, and other fields above, which need not be masked off: shifts
  // ignore these bits, and so do all readers of `count`.
  void consume(uint64_t n) {
    window <<= n & 63;
    count -= n;
  }

  int64_t bits_from(const uint8_t* begin) const { return (next - begin) * 8 - int64_t(count & 63); }
};

// A value from its bits, which are at the top of `window`, with so many unused bits behind them. The first bit is the
// sign; negative values are stored one too low, so that none has a leading 1.
inline int signed_value(uint64_t window, int unused, int more_unused = 0) {
  uint64_t negative = uint64_t(~(int64_t(window) >> 63));
  return int(((window ^ negative) >> unused >> more_unused ^ negative) - negative);
}

}  // namespace ps::jpeg
