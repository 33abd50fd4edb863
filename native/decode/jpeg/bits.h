// A reader of bits, most significant first, from bytes without stuffing.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

namespace ps::jpeg {

struct Bits {
  const uint8_t* next = nullptr;   // 8 bytes here must be readable whenever refill() is called
  uint64_t window = 0;             // the next bits, at the top
  uint64_t count = 0;              // how many of them are valid

  void start(const uint8_t* data) {
    next = data;
    window = count = 0;
  }

  // At least 56 bits are valid afterwards. Branch-free: bits that are there already are simply read again.
  void refill() {
    uint64_t bytes;
    std::memcpy(&bytes, next, 8);
    window |= __builtin_bswap64(bytes) >> count;
    next += (63 - count) >> 3;
    count |= 56;
  }

  uint64_t peek(int n) const { return window >> (64 - n); }
  void consume(uint64_t n) {
    window <<= n & 63;
    count -= n;
  }
  const uint8_t* position() const { return next - count / 8; }   // of the byte that holds the next bit
  int64_t bits_from(const uint8_t* begin) const { return (next - begin) * 8 - int64_t(count); }
};

}  // namespace ps::jpeg
