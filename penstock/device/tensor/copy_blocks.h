// Blocks that lie side by side, copied to places a fixed distance apart: what joins and splits tensors.
#pragma once

#include "device/base/divisor.h"

namespace ps::device {

// In units of T.
template <class T> struct CopyBlocks {
  const T* from;
  T* to;
  Divisor block;                       // length of a block
  int64_t pitch;                       // from one block to the next, where they go

  PS_FN void element(int64_t i) const {
    const uint64_t number = block.quotient(uint64_t(i));
    to[int64_t(number) * pitch + i - int64_t(number * block.number())] = from[i];
  }
};

}  // namespace ps::device
