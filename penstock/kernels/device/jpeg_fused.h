// From the parts of scans to planes of samples by one kernel: coefficients never leave shared memory. A block decodes
// all parts in which its MCUs lie, so the parts at both ends are decoded twice. DC values are known when the blocks
// before it have told their sums.
#pragma once

#include "kernels/device/block_scan.h"
#include "kernels/device/jpeg_parts.h"
#include "kernels/device/jpeg_transform.h"

namespace ps::device {

inline constexpr int kJpegFusedBlocks = 360;                       // of 8 x 8, at most
inline constexpr uint32_t kJpegFusedParts = 96;                    // that have their words in shared memory

struct JpegFusedSpan {
  uint32_t begin;                      // the part
};

// Of neighbouring DC differences, of each component: sums since the last restart, if there was one.
struct alignas(16) JpegDcSums {
  uint32_t sum[3], restarted;
};

// A block of 8 x 8 on its way.
struct alignas(16) JpegFusedBlock {
  uint8_t* to;                         // null: nobody wants it
  int32_t pitch;
  uint16_t number;                     // among those of this block of threads
  uint16_t component;
};

// Behind these: a stretch of the scan.
struct JpegFusedMemory {
  JpegScanMemory scan;
  JpegEight column[kJpegFusedBlocks][9];           // in the last one goes what is none
  JpegFusedBlock block[kJpegFusedBlocks];          // as they lie in the planes
  JpegDcSums totals[kJpegThreads];
  JpegEight quant[3][8];
  uint8_t place[128];
  uint32_t number;
};

PS_FN uint32_t fused_bits(const JpegPicture& p) { return kJpegFusedParts * p.part_bits; }

#if !PS_HOST
// A block for each kJpegWriteThreads parts.
PS_FN void jpeg_spans(const Launch& l) {
  const JpegBlock b = jpeg_block(l);
  const JpegPicture& p = b.picture;
  const uint32_t all = count_parts(p, jpeg_bits(p)), first = uint32_t(b.number) * kJpegWriteThreads;
  const uint32_t each = uint32_t(p.fused_mcus * p.blocks_in_mcu), end = min(first + kJpegWriteThreads, all);
  if (b.number == 0) {
    for (uint32_t i = uint32_t(thread()); i * each < p.blocks; i += uint32_t(threads())) p.chain[i] = 0;
    if (thread() == 0) *p.ticket = 0;
  }
  for (uint32_t part = first + uint32_t(thread()); part < end; part += uint32_t(threads())) {
    const uint32_t before = part ? p.sum[part - 1] : 0, behind = min(p.sum[part], p.blocks);
    if (before >= behind) continue;
    for (uint32_t i = before / each; i * each < behind; i++)
      if (i * each >= before) p.fused_span[i].begin = part;
  }
}

struct JoinDcSums {
  PS_FN JpegDcSums operator()(const JpegDcSums& a, const JpegDcSums& b) const {
    JpegDcSums both{{}, a.restarted | b.restarted};
    PS_UNROLL for (int k = 0; k < 3; k++) both.sum[k] = b.restarted ? b.sum[k] : a.sum[k] + b.sum[k];
    return both;
  }
};

// What a block tells those behind it, in a word that is stored at once: 16 bits of each sum; 1 << 62: it is there, 1 <<
// 63: they are those from the last restart on.
PS_FN void tell(uint64_t* to, const JpegDcSums& sums) {
  const uint64_t value = (sums.sum[0] & 0xFFFF) | uint64_t(sums.sum[1] & 0xFFFF) << 16 |
                         uint64_t(sums.sum[2] & 0xFFFF) << 32 | 1ull << 62 | uint64_t(sums.restarted != 0) << 63;
  *static_cast<volatile uint64_t*>(to) = value;
}
PS_FN JpegDcSums hear(const uint64_t* from) {
  uint64_t value = 0;
  while (value == 0) value = *static_cast<const volatile uint64_t*>(from);
  return {{uint32_t(value) & 0xFFFF, uint32_t(value >> 16) & 0xFFFF, uint32_t(value >> 32) & 0xFFFF},
          uint32_t(value >> 63)};
}

// All threads: the sums of all that comes before block `number`.
PS_FN JpegDcSums hear_all(const JpegPicture& p, JpegDcSums* totals, int number) {
  JpegDcSums before{};
  for (int end = number; end > 0 && !before.restarted; end -= threads()) {
    const int from = end - threads() + thread();
    scan_threads(totals, from < 0 ? JpegDcSums{} : hear(p.chain + from), JoinDcSums());
    before = JoinDcSums()(totals[threads() - 1], before);
    sync();
  }
  return before;
}

// All threads: DC values of `count` blocks from their differences.
PS_FN void sum_differences(const JpegPicture& p, JpegFusedMemory& m, int number, uint32_t first, uint32_t count) {
  auto* coefficients = reinterpret_cast<int16_t*>(m.column);
  const uint32_t each = (count + uint32_t(threads()) - 1) / uint32_t(threads());
  const uint32_t begin = min(each * uint32_t(thread()), count), end = min(begin + each, count);
  const auto add_up = [&](JpegDcSums sums, auto use) {
    uint32_t in_mcu = (first + begin) % uint32_t(p.blocks_in_mcu), restart = (first + begin) % p.segment_blocks;
    for (uint32_t i = begin; i < end; i++) {
      if (restart == 0) sums = {{}, 1};
      if (++restart == p.segment_blocks) restart = 0;
      const int component = p.component_of[in_mcu];
      if (++in_mcu == uint32_t(p.blocks_in_mcu)) in_mcu = 0;
      const auto difference = uint32_t(coefficients[i * 72]);
      PS_UNROLL for (int k = 0; k < 3; k++) sums.sum[k] += k == component ? difference : 0;
      use(i, component, component == 0 ? sums.sum[0] : component == 1 ? sums.sum[1] : sums.sum[2]);
    }
    return sums;
  };
  scan_threads(m.totals, add_up({}, [](uint32_t, int, uint32_t) {}), JoinDcSums());
  const JpegDcSums all = m.totals[threads() - 1], own = thread() ? m.totals[thread() - 1] : JpegDcSums{};
  sync();
  if (thread() == 0) tell(p.chain + number, all);
  const JpegDcSums before = hear_all(p, m.totals, number);
  if (thread() == 0 && !all.restarted) tell(p.chain + number, JoinDcSums()(before, all));
  bool extreme = false;
  add_up(JoinDcSums()(before, own), [&](uint32_t i, int component, uint32_t sum) {
    const JpegComponent& c = p.component[component];
    const int scaled = int16_t(int16_t(sum) * int(c.quant[0]));
    extreme |= c.columns && (scaled > 8191 || scaled < -8191);
    coefficients[i * 72] = int16_t(sum);
  });
  if (extreme) p.status->extreme = 1;
}

// All threads: where the blocks of `mcus` MCUs go.
PS_FN void find_fused_blocks(const JpegPicture& p, JpegFusedMemory& m, int first, int mcus) {
  for (int i = thread(); i < mcus * p.blocks_in_mcu; i += threads()) {
    int k = 0, j = i, before = 0;
    while (j >= mcus * p.component[k].blocks) before += p.component[k].blocks, j -= mcus * p.component[k++].blocks;
    const JpegComponent& c = p.component[k];
    const int across = mcus * c.h, y = (j >= across) + (j >= 2 * across) + (j >= 3 * across), x = j - y * across;
    const int mcu = c.by_h.quotient(x), in_mcu = y * c.h + x - mcu * c.h, row = (first + mcu) / p.mcus_across;
    const int column = (first + mcu - row * p.mcus_across) * c.h + x - mcu * c.h - c.column;
    const int line = row * c.v + y - c.row;
    JpegFusedBlock b{};
    if (uint32_t(column) < uint32_t(c.columns) && uint32_t(line) < uint32_t(c.rows)) {
      b.pitch = c.columns * 8;
      b.to = c.plane + (int64_t(line) * 8 * b.pitch + column * 8);
      b.number = uint16_t(mcu * p.blocks_in_mcu + before + in_mcu), b.component = uint16_t(k);
    }
    m.block[i] = b;
  }
}

// Puts a part's coefficients to their places among those of `count` blocks.
struct JpegFusedSink {
  int16_t* coefficients;
  const uint8_t* place;
  uint32_t first, count, offset;       // offset: << 7

  PS_FN void begin(uint32_t before, uint32_t) { offset = (before - first) << 7; }
  PS_FN void nothing(int) {}
  PS_FN void symbol(int, uint32_t tag, uint32_t index, int value) {
    const uint32_t number = tag + offset;
    if (number < count << 7) coefficients[(number >> 7) * 72 + place[index]] = int16_t(value);
  }
  PS_FN void difference(const JpegLink&, uint32_t, int) {}
  PS_FN bool next() { return true; }
};

// A block for each so many MCUs.
PS_FN void jpeg_fused(const Launch& l) {
  PS_SHARED_MEMORY(memory);
  auto& m = held_in<JpegFusedMemory>(memory);
  const JpegBlock b = jpeg_block(l);
  const JpegPicture& p = b.picture;
  const uint32_t bits = jpeg_bits(p), parts = count_parts(p, bits);
  if (parts == 0 || p.sum[parts - 1] < p.blocks) return;           // so some never come
  if (thread() == 0) m.number = take_number(p.ticket);             // all blocks before have begun
  sync();
  const int number = int(m.number), first = number * p.fused_mcus;
  const int mcus = min(p.fused_mcus, int(p.blocks / uint32_t(p.blocks_in_mcu)) - first);
  const int count = mcus * p.blocks_in_mcu;
  // Up to where the next block of threads begins: so no part is left unchecked, whatever the sums are.
  const bool is_last = uint32_t(first + mcus) * uint32_t(p.blocks_in_mcu) >= p.blocks;
  const uint32_t begin_part = number == 0 ? 0 : min(p.fused_span[number].begin, parts - 1);
  const uint32_t end_part = is_last ? parts : min(p.fused_span[number + 1].begin, parts - 1) + 1;
  auto* eights = reinterpret_cast<JpegEight*>(m.column);
  for (int i = thread(); i < count * 9; i += threads()) eights[i] = {};
  for (int i = thread(); i < 24; i += threads())
    m.quant[i / 8][i % 8] = reinterpret_cast<const JpegEight*>(p.component[i / 8].quant)[i % 8];
  for (int i = thread(); i < 128; i += threads()) m.place[i] = i < 64 ? p.place[i] : uint8_t(64);
  const JpegStretch stretch = load_stretch(p, reinterpret_cast<uint32_t*>(memory + sizeof(JpegFusedMemory)),
                                           begin_part * p.part_bits,
                                           min(max(begin_part, end_part) * p.part_bits, bits),
                                           jpeg_stretch(fused_bits(p)));
  load_scan(p, m.scan);
  const uint32_t first_block = uint32_t(first * p.blocks_in_mcu);
  for (uint32_t part = begin_part + uint32_t(thread()); part < end_part; part += uint32_t(threads())) {
    JpegFusedSink sink{reinterpret_cast<int16_t*>(m.column), m.place, first_block, uint32_t(count), 0};
    decode_part(p, m.scan, stretch, part, bits, sink);
  }
  find_fused_blocks(p, m, first, mcus);
  sync();
  sum_differences(p, m, number, first_block, uint32_t(count));
  sync();
  PS_LOOP
  for (int i = thread(); i < count * 4; i += threads()) {
    const JpegFusedBlock at = m.block[i / 4];
    if (!at.to) continue;
    const int one = (i % 4 + at.number % 2 * 3) & 7, two = one ^ 4;
    JpegEight* column = m.column[at.number];
    const JpegEight left = column[one], right = column[two];
    column[one] = transform_column(left, m.quant[at.component][one]);
    column[two] = transform_column(right, m.quant[at.component][two]);
  }
  sync();
  PS_LOOP
  for (int i = thread(); i < count * 4; i += threads()) {
    const JpegFusedBlock at = m.block[i / 4];
    if (!at.to) continue;
    const int pair = i % 4;
    int rows[2][8];
    PS_UNROLL
    for (int x = 0; x < 8; x++) {
      const uint32_t both = m.column[at.number][x].v[pair];
      rows[0][x] = lower(both), rows[1][x] = upper(both);
    }
    uint8_t* to = on_gpu(at.to) + int64_t(pair) * 2 * at.pitch;
    *reinterpret_cast<uint64_t*>(to) = transform_row(rows[0]);
    *reinterpret_cast<uint64_t*>(to + at.pitch) = transform_row(rows[1]);
  }
}
#endif

}  // namespace ps::device
