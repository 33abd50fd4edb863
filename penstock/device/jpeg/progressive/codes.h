// Look-up tables of a scan's codes, which each warp makes for itself: nearly every scan has codes of its own.
#pragma once

#include "device/jpeg/progressive/bits.h"

namespace ps::device {

enum class JpegScanKind { means, first, later };

template <int kBits> struct JpegScanCodes {
  // An entry: bits 0-4 the length of a code with the bits that belong to it, 5-8 how many of these there are, from 9
  // the zeros before the coefficient. More of these than any block has: nothing usual. kEnd: nothing more in this
  // block; the length is that of the code alone, and the bits that belong to it tell how many blocks end.
  static constexpr uint32_t kOther = 126, kEnd = 127;

  uint16_t quick[1 << kBits];          // by the next bits
  uint32_t limit[16];                  // codes of i + 1 bits, shifted to 16, are below it
  int32_t offset[16];                  // from a code of i + 1 bits to its symbol
  uint8_t symbols[256];

#if !PS_HOST
  // By a warp.
  PS_FN void build(const JpegCodes& from, JpegScanKind kind) {
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
    PS_LOOP for (uint32_t i = uint32_t(lane()); i < 1u << kBits; i += kLanes)
      quick[i] = uint16_t(entry_of(find(i << (16 - kBits)), kind));
    sync_lanes();
  }
  PS_FN uint32_t look_up(uint32_t window) const { return quick[window >> (32 - kBits)]; }

  // Any code at the top of 16 bits.
  struct Code {
    uint32_t length, symbol;           // length 0: there is none
  };
  PS_FN Code find(uint32_t next) const {
    uint32_t length = 1;
    PS_LOOP while (length <= 16 && next >= limit[length - 1]) length++;
    if (length > 16) return {0, 0};
    return {length, symbols[(int(next >> (16 - length)) + offset[length - 1]) & 255]};
  }

 private:
  PS_FN static uint32_t entry_of(Code c, JpegScanKind kind) {
    const uint32_t size = c.symbol & 15, run = c.symbol >> 4;
    if (c.length == 0 || c.length > kBits) return kOther << 9;
    if (kind == JpegScanKind::means) return (c.length + size) | size << 5;
    if (size == 0) return run == 15 ? kOther << 9 : c.length | run << 5 | kEnd << 9;
    if (kind == JpegScanKind::later && size > 1) return kOther << 9;
    return (c.length + size) | size << 5 | run << 9;
  }
#endif
};

// What a warp has in shared memory.
struct JpegScanMemory {
  uint32_t ahead[kJpegAheadBytes / 4]; // of the scan
  uint8_t zeros[64];                   // the places of a block's coefficients that are zero, in their order
  uint8_t signs[64];                   // of these: 0: still zero; 2: it is negative now, 3: positive
  union {
    JpegScanCodes<10> band;
    JpegScanCodes<7> means[3];
  };
};

}  // namespace ps::device
