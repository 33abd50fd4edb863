// What a Gather (ops/gather/gather.h) does where elements keep their values: it moves blocks of bytes.
#pragma once

#include <algorithm>
#include <cstring>

#include "rows/reverse.h"

namespace ps {

namespace detail {

template <int kBytes> void pick_blocks(const uint8_t* from, int64_t stride, int64_t n, uint8_t* to) {
  for (int64_t i = 0; i < n; i++) std::memcpy(to + i * kBytes, from + i * stride, kBytes);
}

// Four bytes at a time: the fourth is the next block's first, which comes later. Not where it may be beyond the memory.
template <> inline void pick_blocks<3>(const uint8_t* from, int64_t stride, int64_t n, uint8_t* to) {
  const int64_t first = stride < 0, last = n - 1;
  if (first) std::memcpy(to, from, 3);
  for (int64_t i = first; i < last; i++) {
    uint32_t four;
    std::memcpy(&four, from + i * stride, 4);
    std::memcpy(to + i * 3, &four, 4);
  }
  if (last >= first) std::memcpy(to + last * 3, from + last * stride, 3);
}

}  // namespace detail

// n blocks of that many bytes, `stride` bytes apart, side by side.
inline void move_blocks(const uint8_t* from, int64_t stride, int64_t n, int64_t block, uint8_t* to) {
  if (stride == block || n == 1) {
    std::memcpy(to, from, size_t(n * block));
  } else if (stride == -block) {
    reverse_row(from - (n - 1) * block, to, n, size_t(block));
  } else {
    switch (block) {
      case 1: return detail::pick_blocks<1>(from, stride, n, to);
      case 2: return detail::pick_blocks<2>(from, stride, n, to);
      case 3: return detail::pick_blocks<3>(from, stride, n, to);
      case 4: return detail::pick_blocks<4>(from, stride, n, to);
      case 6: return detail::pick_blocks<6>(from, stride, n, to);
      case 8: return detail::pick_blocks<8>(from, stride, n, to);
      case 12: return detail::pick_blocks<12>(from, stride, n, to);
      default:
        for (int64_t i = 0; i < n; i++) std::memcpy(to + i * block, from + i * stride, size_t(block));
    }
  }
}

struct MoveBlocks {
  int64_t block;
  uint8_t* to;

  void copy(const uint8_t* from, int64_t stride, int64_t n, int64_t, int64_t) {
    move_blocks(from, stride, n, block, to);
    to += n * block;
  }
  void fill(int64_t, int64_t, int64_t) {}
};

}  // namespace ps
