// Scans of DC values. They go where those of baseline files go: in the order of MCUs.
#pragma once

#include "device/jpeg/progressive/codes.h"

namespace ps::device {

#if !PS_HOST
PS_FN int16_t& dc_of(const JpegComponent& c, int mcus_across, int x, int y) {
  const int mcu_x = c.by_h.quotient(x), mcu_y = y / c.v;
  return on_gpu(c.dc)[(mcu_y * mcus_across + mcu_x) * c.blocks + (y - mcu_y * c.v) * c.h + x - mcu_x * c.h];
}

// A block of a unit of the scan: of an MCU, or a single one.
struct JpegMean {
  int component;                       // among those of the scan
  int16_t* dc;
};
PS_FN JpegMean mean_of(const JpegPicture& p, const JpegScan& s, uint32_t unit, uint32_t block) {
  if (s.components == 1) {
    const uint32_t y = unit / uint32_t(s.columns), x = unit - y * uint32_t(s.columns);
    return {0, &dc_of(p.component[s.component[0]], p.mcus_across, int(x), int(y))};
  }
  int k = 0;
  while (block >= uint32_t(p.component[s.component[k]].blocks)) block -= uint32_t(p.component[s.component[k++]].blocks);
  const JpegComponent& c = p.component[s.component[k]];
  return {k, on_gpu(c.dc) + (uint64_t(unit) * uint32_t(c.blocks) + block)};
}
PS_FN uint32_t blocks_of_unit(const JpegPicture& p, const JpegScan& s) {
  uint32_t blocks = s.components == 1;
  for (int k = 0; s.components > 1 && k < s.components; k++) blocks += uint32_t(p.component[s.component[k]].blocks);
  return blocks;
}

// Up to the unit `end`. False: the data contradicts itself.
PS_FN bool decode_means(const JpegPicture& p, const JpegScan& s, JpegScanMemory& m, JpegScanBits& bits, uint32_t begin,
                        uint32_t end) {
  const uint32_t blocks = blocks_of_unit(p, s);
  uint32_t sum[3] = {0, 0, 0};
  PS_LOOP for (uint32_t unit = begin; unit < end; unit++) {
    bits.prepare(kJpegUnitBits);
    PS_LOOP for (uint32_t block = 0; block < blocks; block++) {
      const JpegMean mean = mean_of(p, s, unit, block);
      const auto& codes = m.means[mean.component];
      const uint32_t window = bits.window(), entry = codes.look_up(window);
      uint32_t length = entry & 31, size = entry >> 5 & 15;
      if (entry >> 9 == codes.kOther) {
        const auto code = codes.find(window >> 16);
        if (code.length == 0) return false;
        size = code.symbol & 15, length = code.length + size;
      }
      const auto difference = uint32_t(value_of_bits(window << (length - size), size));
      bits.skip(length);
      uint32_t now = 0;                // in registers, so no index
      PS_UNROLL for (int k = 0; k < 3; k++)
        if (k == mean.component) now = sum[k] += difference;
      if (lane() == 0) *mean.dc = int16_t(now << s.low);
    }
    if (bits.beyond()) return false;
  }
  return true;
}

// Each block has a bit here, so lanes share them out.
PS_FN bool refine_means(const JpegPicture& p, const JpegScan& s, JpegScanBits& bits, uint32_t begin, uint32_t end) {
  const uint32_t blocks = blocks_of_unit(p, s);
  constexpr uint32_t together = 64;    // units at a time
  PS_LOOP for (uint32_t unit = begin; unit < end; unit += together) {
    const uint32_t count = min(together, end - unit) * blocks;
    bits.prepare(kJpegUnitBits);
    for (uint32_t i = uint32_t(lane()); i < count; i += kLanes) {
      int16_t* dc = mean_of(p, s, unit + i / blocks, i % blocks).dc;
      if (bits.ahead(i)) *dc = int16_t(*dc | 1 << s.low);
    }
    sync_lanes();
    bits.pass(count);
    if (bits.beyond()) return false;
  }
  return true;
}
#endif

}  // namespace ps::device
