// DC values from their differences. They begin anew at each restart marker.
#pragma once

#include "device/base/block_scan.h"
#include "device/jpeg/jpeg.h"

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

// Of the values from `begin` on, by all threads, each its share. Only the lowest 16 bits count.
PS_FN uint32_t sum_share(const int16_t* values, uint32_t begin, uint32_t end) {
  struct alignas(16) Eight {
    uint32_t pairs[4];
  };
  uint32_t sum = 0;
  const uint32_t from = min((begin + 7) / 8 * 8, end), to = max(end / 8 * 8, from);
  for (uint32_t i = begin + uint32_t(thread()); i < from; i += uint32_t(threads())) sum += uint32_t(values[i]);
  PS_UNROLL
  for (uint32_t i = from + uint32_t(thread()) * 8; i < to; i += uint32_t(threads()) * 8) {
    const Eight eight = *reinterpret_cast<const Eight*>(values + i);
    PS_UNROLL for (const uint32_t pair : eight.pairs) sum += pair + (pair >> 16);
  }
  for (uint32_t i = to + uint32_t(thread()); i < end; i += uint32_t(threads())) sum += uint32_t(values[i]);
  return sum;
}

// A block for kJpegSums values of a component. It adds up the differences before them, from the last restart on, by
// itself. Sums wrap around as those of 16 bits do.
PS_FN void jpeg_dc(const Launch& l) {
  PS_SHARED_MEMORY(memory);
  auto* totals = reinterpret_cast<JpegDifferences*>(memory);
  const JpegBlock b = jpeg_block(l);
  const JpegPicture& p = b.picture;
  if (!p.status->complete) return;
  const uint32_t mcus = p.needed / uint32_t(p.blocks_in_mcu);
  const auto chunks = [&](int k) { return int((mcus * uint32_t(p.component[k].blocks) + kJpegSums - 1) / kJpegSums); };
  int k = 0, index = b.index;
  while (index >= chunks(k)) index -= chunks(k++);
  const JpegComponent& c = p.component[k];
  if (c.columns == 0) return;
  const uint32_t all = mcus * uint32_t(c.blocks);
  const uint32_t period = p.segment_blocks / uint32_t(p.blocks_in_mcu) * uint32_t(c.blocks);
  const uint32_t first = uint32_t(index) * kJpegSums, last = min(first + kJpegSums, all);
  const uint32_t share = sum_share(c.differences, first / period * period, first);
  const uint32_t each = (last - first + uint32_t(threads()) - 1) / uint32_t(threads());
  const uint32_t begin = min(first + each * uint32_t(thread()), last), end = min(begin + each, last);
  const uint32_t first_restart = (begin + period - 1) / period * period;
  scan_threads(totals, JpegDifferences{share, 0}, JoinDifferences());
  const uint32_t before = totals[threads() - 1].sum;
  sync();
  JpegDifferences own{0, 0};
  uint32_t restart = first_restart;
  for (uint32_t i = begin; i < end; i++) {
    if (i == restart) own = {0, 1}, restart += period;
    own.sum += uint32_t(c.differences[i]);
  }
  scan_threads(totals, own, JoinDifferences());
  JpegDifferences sum{before, 0};
  if (thread()) sum = JoinDifferences()(sum, totals[thread() - 1]);
  restart = first_restart;
  bool extreme = false;
  const int quant = c.quant[0];
  for (uint32_t i = begin; i < end; i++) {
    if (i == restart) sum.sum = 0, restart += period;
    sum.sum += uint32_t(c.differences[i]);
    c.dc[i] = int16_t(sum.sum);
    const int scaled = int16_t(int16_t(sum.sum) * quant);
    extreme |= scaled > 8191 || scaled < -8191;
  }
  if (extreme) p.status->extreme = 1;
}
#endif

}  // namespace ps::device
