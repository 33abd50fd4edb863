// Look-up tables of a scan's codes, which each warp makes for itself: nearly every scan has codes of its own.
#pragma once

#include "device/jpeg/progressive/bits.h"

namespace ps::device {

template <int kBits> struct JpegScanCodes {
  uint32_t limit[16];                  // codes of i + 1 bits, shifted to 16, are below it
  int32_t offset[16];                  // from a code of i + 1 bits to its symbol
  uint8_t symbols[256];
  uint16_t quick[1 << kBits];          // by the next bits: the code's length, << 5: its symbol; 0: it is longer

#if !PS_HOST
  // By a warp.
  PS_FN void build(const JpegCodes& from) {
    uint32_t code = 0, index = 0;
    PS_LOOP for (uint32_t length = 1; length <= 16; length++) {
      const uint32_t count = from.counts[length - 1];
      if (lane() == 0) offset[length - 1] = int32_t(index) - int32_t(code);
      code += count, index += count;
      if (lane() == 0) limit[length - 1] = code << (16 - length);
      code <<= 1;
    }
    for (int i = lane(); i < 256; i += kLanes) symbols[i] = from.symbols[i];
    sync_lanes();
    for (uint32_t i = uint32_t(lane()); i < 1u << kBits; i += kLanes) {
      const uint32_t entry = find(i << (16 - kBits), 1);
      quick[i] = (entry & 31) <= kBits ? uint16_t(entry) : uint16_t(0);
    }
    sync_lanes();
  }
  // The code at the top of a window, as in `quick`. 0: there is none.
  PS_FN uint32_t at(uint32_t window) const {
    const uint32_t entry = quick[window >> (32 - kBits)];
    return entry ? entry : find(window >> 16, kBits + 1);
  }

 private:
  PS_FN uint32_t find(uint32_t next, uint32_t length) const {
    PS_LOOP while (length <= 16 && next >= limit[length - 1]) length++;
    if (length > 16) return 0;
    return uint32_t(symbols[(int(next >> (16 - length)) + offset[length - 1]) & 255]) << 5 | length;
  }
#endif
};

// What a warp has in shared memory.
struct JpegScanMemory {
  uint32_t ring[kJpegRingBytes / 4];
  union {
    JpegScanCodes<10> band;
    JpegScanCodes<7> means[3];
  };
  uint8_t zeros[64];                   // the places of a block's coefficients that are zero
};

}  // namespace ps::device
