// The scans of progressive pictures: a block of threads for each picture, in which each warp decodes a scan, and then
// the next one that no warp has.
#pragma once

#include "device/jpeg/progressive/band.h"
#include "device/jpeg/progressive/means.h"

namespace ps::device {

struct JpegScansMemory {
  uint32_t next, broken;
  uint32_t done[kJpegMostScans];       // of each scan, how many units are known
  JpegScanMemory warp[kJpegScanWarps];
};

#if !PS_HOST
inline constexpr uint32_t kJpegAllDone = ~0u;

// By a warp. False: the data contradicts itself.
PS_FN bool decode_scan(const JpegPicture& p, const JpegScan& s, JpegScansMemory& all, JpegScanMemory& m,
                       uint32_t* own_done) {
  const bool dc = s.first == 0;
  if (!dc) {
    m.band.build(*s.codes[0], s.later ? JpegScanKind::later : JpegScanKind::first);
  } else if (!s.later) {
    PS_LOOP for (int k = 0; k < s.components; k++) m.means[k].build(*s.codes[k], JpegScanKind::means);
    if (s.components == 1) {           // it leaves out blocks that only fill the last MCUs
      const JpegComponent& c = p.component[s.component[0]];
      const uint32_t count = p.needed / uint32_t(p.blocks_in_mcu) * uint32_t(c.blocks);
      for (uint32_t i = uint32_t(lane()); i < count; i += kLanes) on_gpu(c.dc)[i] = 0;
      sync_lanes();
    }
  } else {
    PS_LOOP for (int i = 0; i < s.previous_count; i++) await(all.done + s.previous[i], kJpegAllDone);
  }
  JpegScanBits bits(m.ahead);
  PS_LOOP for (uint32_t segment = 0; uint64_t(segment) * s.interval < s.units; segment++) {
    const uint32_t begin = segment * s.interval, end = begin + min(s.interval, s.units - begin);
    bits.open(p.file, s.segment[segment]);
    const bool sound = !dc      ? decode_band(p, s, m, bits, begin, end, all.done, own_done)
                       : s.later ? refine_means(p, s, bits, begin, end)
                                 : decode_means(p, s, m, bits, begin, end);
    if (!sound || bits.beyond() || (end < s.units && !bits.ended())) return false;
    if (*static_cast<volatile uint32_t*>(&all.broken)) return false;
  }
  return true;
}

// Decoders differ in how these overflow.
PS_FN bool has_extreme_means(const JpegPicture& p) {
  bool extreme = false;
  for (int k = 0; k < p.components; k++) {
    const JpegComponent& c = p.component[k];
    const uint32_t count = c.columns ? p.needed / uint32_t(p.blocks_in_mcu) * uint32_t(c.blocks) : 0;
    for (uint32_t i = uint32_t(thread()); i < count; i += uint32_t(threads())) {
      const int scaled = int16_t(on_gpu(c.dc)[i] * c.quant[0]);
      extreme |= scaled > 8191 || scaled < -8191;
    }
  }
  return extreme;
}

// A block for each picture, of kJpegScanWarps warps at most.
PS_FN void jpeg_scans(const Launch& l) {
  PS_SHARED_MEMORY(memory);
  auto& m = held_in<JpegScansMemory>(memory);
  const JpegPicture& p = jpeg_block(l).picture;
  for (int i = thread(); i < kJpegMostScans; i += threads()) m.done[i] = 0;
  if (thread() == 0) {
    m.next = m.broken = 0;
    *p.status = {0, 0, 0, 0};
  }
  sync();
  auto& own = held_in<JpegScanMemory>(reinterpret_cast<unsigned char*>(m.warp + thread() / kLanes));
  // A scan waits for some before it alone, which other warps have taken already.
  PS_LOOP while (true) {
    const uint32_t index = value_of(0, lane() == 0 ? fetch_increment(&m.next) : 0);
    if (index >= p.scan_count) break;
    uint32_t* const done = m.done + index;
    if (!decode_scan(p, p.scans[index], m, own, done)) or_into(&m.broken, 1);
    publish(done, kJpegAllDone);       // if it is broken, too: none may wait for ever
  }
  sync();
  if (m.broken) {
    if (thread() == 0) p.status->broken = 1;
  } else {
    if (has_extreme_means(p)) p.status->extreme = 1;
    if (thread() == 0) p.status->complete = 1;
  }
}
#endif

}  // namespace ps::device
