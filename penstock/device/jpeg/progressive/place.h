// The AC coefficients of a block of a progressive picture, from what its scans found.
#pragma once

#include "device/base/bits.h"
#include "device/jpeg/progressive/scan.h"

namespace ps::device {

#if !PS_HOST
// By one thread. `to` has zeros, and place[k] is where the k-th coefficient belongs.
PS_FN void place_block(const JpegPicture& p, int component, int column, int line, const uint8_t* place, int16_t* to) {
  const JpegComponent& c = p.component[component];
  if (column >= c.across || line >= c.down) return;
  const auto block = uint32_t(line * c.across + column);
  PS_LOOP for (uint32_t i = 0; i < p.scan_count; i++) {
    const JpegScan& s = on_gpu(p.scans)[i];
    if (s.first == 0 || s.component[0] != component) continue;
    const uint64_t negative = s.later ? on_gpu(s.negative)[block] : 0;
    const int step = 1 << s.low;
    uint64_t left = on_gpu(s.later ? s.value : s.nonzero)[block];
    PS_LOOP for (; left; left &= left - 1) {
      const int k = lowest_one(left);
      int16_t& coefficient = to[place[k]];
      if (!s.later) {
        coefficient = on_gpu(s.first_values)[uint64_t(block) * 64 + uint32_t(k)];
      } else {
        const int now = coefficient;
        coefficient = int16_t(now < 0 || (now == 0 && negative >> k & 1) ? now - step : now + step);
      }
    }
  }
}
#endif

}  // namespace ps::device
