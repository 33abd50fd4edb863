// Decodes the parts of scans to coefficients, and checks all that may be wrong: if this finds no fault, the result is
// that of a decoder that began at the start.
#pragma once

#include "kernels/device/jpeg_huffman.h"

namespace ps::device {

// What a block of the MCU is written to.
struct JpegTarget {
  int16_t* differences;
  uint32_t step;                       // from one MCU's value to the next one's
  int32_t slot;                        // -1: nobody wants it
};

struct JpegWriteMemory {
  JpegTables tables;
  JpegTarget target[kJpegBlocksInMcu];
  uint8_t order[64];                   // number in the file, of the coefficients column by column
  int16_t blocks[kJpegScanThreads][66];    // each thread's, in the file's order; behind it room for what is none
};

#if !PS_HOST
// A block's place in the scan and in the picture.
struct JpegPlace {
  const JpegPicture& p;
  uint32_t block, mcu, column;         // in the scan; the MCU's column
  uint32_t kept;                       // number of the first kept block of the MCU, or kNone
  static constexpr uint32_t kNone = ~0u;

  PS_FN JpegPlace(const JpegPicture& picture, uint32_t first)
      : p(picture), block(first), mcu(first / uint32_t(p.blocks_in_mcu)) {
    const uint32_t row = mcu / uint32_t(p.mcus_across);
    column = mcu - row * uint32_t(p.mcus_across);
    find_kept(row);
  }
  PS_FN void find_kept(uint32_t row) {
    const uint32_t x = column - uint32_t(p.mcu_column), y = row - uint32_t(p.mcu_row);
    const bool is_kept = x < uint32_t(p.mcu_columns) && y < uint32_t(p.mcu_rows);
    kept = is_kept ? (y * uint32_t(p.mcu_columns) + x) * uint32_t(p.kept_in_mcu) : kNone;
  }
  PS_FN void next_mcu() {
    mcu++;
    if (++column == uint32_t(p.mcus_across)) column = 0;
    const uint32_t x = column - uint32_t(p.mcu_column);
    if (kept != kNone && x && x < uint32_t(p.mcu_columns)) kept += uint32_t(p.kept_in_mcu);
    else find_kept(mcu / uint32_t(p.mcus_across));
  }
  // Whether the scan may be in that segment when it comes to this block.
  PS_FN bool fits(uint32_t segment) const { return block - segment * p.segment_blocks <= p.segment_blocks; }
};

// A lane's share of a block: words of two coefficients, of which it knows the numbers in the file.
struct JpegShare {
  static constexpr int kWords = 32 / kLanes;
  uint32_t first[kWords], second[kWords];

  PS_FN JpegShare(const uint8_t* order) {
    PS_UNROLL for (int i = 0; i < kWords; i++) {
      const int word = lane() + i * kLanes;
      first[i] = order[2 * word], second[i] = order[2 * word + 1];
    }
  }
};

// The blocks that lanes have finished go to memory, a block by the whole warp at a time, and leave zeros behind.
PS_FN void store_blocks(const JpegPicture& p, JpegWriteMemory& m, const JpegShare& share, uint32_t finished,
                        uint32_t number) {
  auto* to = on_gpu(reinterpret_cast<uint32_t*>(p.coefficients)) + lane();
  auto* blocks = m.blocks[thread() - lane()];
  sync_warp();
  for (; finished; finished &= finished - 1) {
    const int from = lowest_one(finished);
    const uint32_t at = value_of(from, number);
    int16_t* block = blocks + from * int(sizeof m.blocks[0] / 2);
    PS_UNROLL for (int i = 0; i < JpegShare::kWords; i++) {
      const auto low = uint16_t(block[share.first[i]]), high = uint16_t(block[share.second[i]]);
      if (at != JpegPlace::kNone) to[uint64_t(at) * 32 + uint32_t(i)] = low | uint32_t(high) << 16;
    }
    sync_warp();
    PS_UNROLL for (int i = 0; i < JpegShare::kWords; i++) reinterpret_cast<uint32_t*>(block)[lane() + i * kLanes] = 0;
  }
  sync_warp();
}

// By all lanes of a warp, a part each; `is_mine`: this one has any.
PS_FN void write_part(const JpegPicture& p, JpegWriteMemory& m, uint32_t part, bool is_mine, uint32_t bits) {
  const JpegShare share(m.order);
  const uint32_t before = is_mine && part ? p.sum[part - 1] : 0;
  is_mine &= before < p.blocks;                    // behind the last block anything may follow
  JpegCursor c(p, is_mine && part ? p.part[part - 1] : JpegState{0, 0});
  JpegPlace place(p, before);
  const uint32_t end = part_end(p, part, bits);
  bool broken = before != place.mcu * uint32_t(p.blocks_in_mcu) + c.block || !place.fits(c.segment);
  bool complete = false, going = is_mine && !broken && c.bit < end;
  uint32_t index = going ? 0 : 64, tables = m.tables.of_block[c.block], entry = 0, begin = c.bit;
  auto* own = &held_in<int16_t>(reinterpret_cast<unsigned char*>(m.blocks[thread()]));
  while (const int all = count_ones(ballot(going))) {
    const int enough = lanes_to_await(all);
    do {
      if (index < 64) {
        const uint32_t window = c.window();
        entry = find_entry(m.tables.at(index ? tables >> 16 : tables & 0xFFFF), window);
        const uint32_t length = entry & 31, size = entry >> 5 & 15;
        index += entry >> 9;
        const uint32_t shifted = window << (length - size);          // the value's bits are the uppermost ones
        const int value = int(shifted >> 1 >> (31 - size)), least = 1 - (1 << size);
        own[min(index, 65u) - 1] = int16_t(value + (int(shifted) < 0 ? 0 : least));
        c.skip(length);
      }
    } while (count_ones(ballot(index >= 64)) < enough);
    const bool is_block = going && index >= 64, is_over = c.bit > c.segment_end;
    uint32_t number = JpegPlace::kNone;
    if (is_block && !is_over) {
      const JpegTarget& target = m.target[c.block];
      on_gpu(target.differences)[place.mcu * target.step] = own[0];
      if (target.slot >= 0 && place.kept != JpegPlace::kNone) number = place.kept + uint32_t(target.slot);
    }
    store_blocks(p, m, share, ballot(is_block), number);
    if (!is_block) continue;
    if (is_over) {                     // what is left of a segment are the bits that fill its last byte
      broken = c.segment_end - begin >= 8;
    } else {
      broken = index > 64 && entry >> 9 != kJpegEndOfBlock;
      place.block++;
      if (++c.block == uint32_t(p.blocks_in_mcu)) c.block = 0, place.next_mcu();
      complete = place.block == p.blocks;
      if (complete) broken |= c.segment + 1 != p.segments;       // there are blocks in excess before a restart marker
    }
    if (c.bit >= c.segment_end && !complete) {
      broken |= place.block != (c.segment + 1) * p.segment_blocks;
      c.leave(p);
      broken |= !place.fits(c.segment);
    }
    going = c.bit < end && !complete && !broken;
    if (going) index = 0;
    begin = c.bit, tables = m.tables.of_block[c.block];
  }
  if (!is_mine) return;
  const JpegState left = p.part[part];
  const bool fits = c.bit == left.bit && c.block == left.block() && place.block - before == left.blocks();
  if (broken || (!complete && !fits)) p.status->broken = 1;
  else if (complete) p.status->complete = 1;
}

// A block for each kJpegScanThreads parts.
PS_FN void jpeg_write(const Launch& l) {
  PS_SHARED_MEMORY(memory);
  auto& m = held_in<JpegWriteMemory>(memory);
  const JpegBlock b = jpeg_block(l);
  const JpegPicture& p = b.picture;
  const uint32_t bits = jpeg_bits(p), all = count_parts(p, bits), first = uint32_t(b.number) * kJpegScanThreads;
  if (first >= all) return;
  const uint32_t end = min(first + kJpegScanThreads, all);
  if (first && p.sum[first - 1] >= p.blocks) return;
  for (int i = thread(); i < p.blocks_in_mcu; i += threads()) {
    const JpegComponent& c = p.component[p.component_of[i]];
    m.target[i] = {c.differences + p.rank[i], uint32_t(c.blocks), p.slot[i]};
  }
  for (int i = thread(); i < 64; i += threads()) m.order[p.place[i]] = uint8_t(i);
  auto* zeros = reinterpret_cast<uint32_t*>(m.blocks);
  for (int i = thread(); i < int(sizeof m.blocks / 4); i += threads()) zeros[i] = 0;
  load_tables(p, m.tables);
  for (uint32_t k = first; k < end; k += uint32_t(threads())) {
    const uint32_t part = k + uint32_t(thread());
    write_part(p, m, part, part < end, bits);
  }
}
#endif

}  // namespace ps::device
