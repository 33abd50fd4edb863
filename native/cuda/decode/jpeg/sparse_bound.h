// How much memory the sparse coefficients of a scan's subsequences may take (penstock/device/jpeg/sparse.h).
#pragma once

#include <cstdint>

#include "decode/jpeg/header.h"

namespace ps::gpu {

// By the fewest bits that the header's codes take with their values.
class JpegSparseBound {
 public:
  JpegSparseBound() = default;
  explicit JpegSparseBound(const jpeg::Header& header);
  int64_t vectors(int64_t subsequence_bits) const;       // of a subsequence
  int64_t bytes(int64_t subsequence_bits, int64_t subsequences) const;

 private:
  int64_t blocks_ = 0;                       // in an MCU
  int64_t mcu_ = 0, symbol_ = 0;             // bits of one of blocks with two symbols each, and of another symbol
  int64_t segment_ = 0;                      // between restart markers
};

}  // namespace ps::gpu
