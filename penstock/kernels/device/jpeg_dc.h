// DC values from their differences, in place. They begin anew at each restart marker.
#pragma once

#include "kernels/device/block_scan.h"
#include "kernels/device/jpeg.h"

namespace ps::device {

// Of neighbouring differences: the sum since the last restart, if there was one.
struct JpegDifferences {
  uint32_t sum, restarted;
};

#if !PS_HOST
struct JoinDifferences {
  PS_FN JpegDifferences operator()(const JpegDifferences& a, const JpegDifferences& b) const {
    return {b.restarted ? b.sum : a.sum + b.sum, a.restarted | b.restarted};
  }
};

// A block for each component. Sums wrap around as those of 16 bits do.
PS_FN void jpeg_dc(const Launch& l) {
  PS_SHARED_MEMORY(memory);
  auto* totals = reinterpret_cast<JpegDifferences*>(memory);
  const JpegBlock b = jpeg_block(l);
  const JpegPicture& p = b.picture;
  const JpegComponent& c = p.component[b.number];
  if (!p.status->complete || c.columns == 0) return;
  const int64_t n = int64_t(p.blocks / uint32_t(p.blocks_in_mcu)) * c.blocks;
  const int64_t period = int64_t(p.segment_blocks / uint32_t(p.blocks_in_mcu)) * c.blocks;
  const int64_t each = (n + threads() - 1) / threads();
  const int64_t begin = min(each * thread(), n), end = min(begin + each, n);
  const int64_t first_restart = (begin + period - 1) / period * period;
  JpegDifferences own{0, 0};
  int64_t restart = first_restart;
  for (int64_t i = begin; i < end; i++) {
    if (i == restart) own = {0, 1}, restart += period;
    own.sum += uint32_t(c.dc[i]);
  }
  scan_threads(totals, own, JoinDifferences());
  uint32_t sum = thread() ? totals[thread() - 1].sum : 0;
  restart = first_restart;
  bool extreme = false;
  const int quant = c.quant[0];
  for (int64_t i = begin; i < end; i++) {
    if (i == restart) sum = 0, restart += period;
    sum += uint32_t(c.dc[i]);
    c.dc[i] = int16_t(sum);
    const int scaled = int16_t(int16_t(sum) * quant);
    extreme |= scaled > 8191 || scaled < -8191;
  }
  if (extreme) p.status->extreme = 1;
}
#endif

}  // namespace ps::device
