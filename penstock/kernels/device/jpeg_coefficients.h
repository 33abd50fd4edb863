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

// Behind these: a stretch of the scan.
struct JpegWriteMemory {
  JpegTables<uint16_t> tables;
  JpegTarget target[kJpegBlocksInMcu];
  uint8_t place[80];                   // of coefficients in the file's order; behind these: of what is none
  alignas(16) int16_t blocks[kJpegWriteThreads][72];       // each thread's, column by column
};

PS_FN uint32_t write_bits(const JpegPicture& p) { return kJpegWriteThreads * p.part_bits; }

#if !PS_HOST
// A block's place in the scan and in the picture. What it looks at for each block is its own copy: stores to memory
// might change the picture's, for all that compilers know.
struct JpegPlace {
  const JpegPicture& p;
  uint32_t block, mcu, column;         // in the scan; the MCU's column
  uint32_t kept;                       // number of the first kept block of the MCU, or kNone
  uint32_t blocks_in_mcu, kept_in_mcu, across, first_column, columns;
  static constexpr uint32_t kNone = ~0u;

  PS_FN JpegPlace(const JpegPicture& picture, uint32_t first)
      : p(picture), block(first), blocks_in_mcu(uint32_t(p.blocks_in_mcu)), kept_in_mcu(uint32_t(p.kept_in_mcu)),
        across(uint32_t(p.mcus_across)), first_column(uint32_t(p.mcu_column)), columns(uint32_t(p.mcu_columns)) {
    mcu = first / blocks_in_mcu;
    column = mcu % across;
    find_kept();
  }
  PS_FN void find_kept() {
    const uint32_t x = column - first_column, y = mcu / across - uint32_t(p.mcu_row);
    kept = x < columns && y < uint32_t(p.mcu_rows) ? (y * columns + x) * kept_in_mcu : kNone;
  }
  PS_FN void next_mcu() {
    mcu++;
    if (++column == across) column = 0;
    const uint32_t x = column - first_column;
    if (kept != kNone && x && x < columns) kept += kept_in_mcu;
    else find_kept();
  }
  // Whether the scan may be in that segment when it comes to this block, or behind so many of its own.
  PS_FN bool fits(uint32_t segment, uint32_t own = 0) const {
    return block - own - segment * p.segment_blocks <= p.segment_blocks - own;
  }
};

// Lanes of a warp come to the ends of their blocks at any time, and all others wait for what these do there. So it is
// done only after each so many symbols, for all that have come to an end since.
inline constexpr int kJpegSymbols = 6;

// To memory, if it is wanted there; zeros stay behind.
PS_FN void store_block(int16_t* block, int16_t* to) {
  struct alignas(16) Eight {
    uint32_t pairs[4];
  };
  auto* from = reinterpret_cast<Eight*>(block);
  if (to) {
    PS_UNROLL for (int i = 0; i < 8; i++) on_gpu(reinterpret_cast<Eight*>(to))[i] = from[i];
  }
  PS_UNROLL for (int i = 0; i < 8; i++) from[i] = {};
}

PS_FN void write_part(const JpegPicture& p, JpegWriteMemory& m, const JpegStretch& stretch, uint32_t part,
                      uint32_t bits) {
  const uint32_t before = part ? p.sum[part - 1] : 0, end = part_end(p, part, bits);
  if (before >= p.needed) return;                  // behind the last block anything may follow
  const JpegState from = part ? p.part[part - 1] : JpegState{0, 0};
  JpegCursor c(p, stretch.words(from.bit, end), from);
  JpegPlace place(p, before);
  bool broken = before != place.mcu * place.blocks_in_mcu + c.block() || !place.fits(c.segment);
  bool complete = false;
  const uint32_t needed = p.needed;
  int16_t* const coefficients = p.coefficients;
  auto* own = &held_in<int16_t>(reinterpret_cast<unsigned char*>(m.blocks[thread()]));
  uint32_t index = 0, entry = 0, block = c.block(), begin = c.bit;
  uint32_t tables = m.tables.of_block[block], table = tables & 0xFFFF;
  PS_LOOP for (uint32_t going = !broken && c.bit < end; going; in_one_loop(going)) {
    PS_LOOP for (int k = 0; k < kJpegSymbols; k++) {
      if (index >= 64) continue;
      const uint32_t window = c.window();
      entry = m.tables.at(table).quick[quick_place(window)];
      if (entry == 0) entry = find_long_code(m.tables.at(table).longer, window);
      const uint32_t length = entry & 31, size = entry >> 5 & 15;
      index += entry >> 9;
      const uint32_t shifted = window << (length - size);          // the value's bits are the uppermost ones
      const int value = int(shifted >> 1 >> (31 - size)), least = 1 - (1 << size);
      own[m.place[min(index, 65u) - 1]] = int16_t(value + (int(shifted) < 0 ? 0 : least));
      c.skip(length);
      table = tables >> 16;
    }
    if (index < 64) continue;
    const bool is_over = c.bit > c.segment_end;
    int16_t* to = nullptr;
    if (is_over) {                     // what is left of a segment are the bits that fill its last byte
      broken = c.segment_end - begin >= 8;
    } else {
      const JpegTarget& target = m.target[block];
      on_gpu(target.differences)[place.mcu * target.step] = own[0];
      if (target.slot >= 0 && place.kept != JpegPlace::kNone)
        to = coefficients + uint64_t(place.kept + uint32_t(target.slot)) * 64;
      broken = index > 64 && entry >> 9 != kJpegEndOfBlock;
      place.block++;
      if (++block == place.blocks_in_mcu) block = 0, place.next_mcu();
      complete = place.block == needed;
      if (complete) broken |= !place.fits(c.segment, 1);           // there are blocks in excess before a restart marker
    }
    store_block(own, to);
    if (c.bit >= c.segment_end && !complete) {
      broken |= place.block != (c.segment + 1) * p.segment_blocks;
      c.leave(p);
      block = 0;
      broken |= !place.fits(c.segment);
    }
    going = c.bit < end && !complete && !broken;
    index = 0, begin = c.bit, tables = m.tables.of_block[block], table = tables & 0xFFFF;
  }
  const JpegState left = p.part[part];
  const bool fits = c.bit == left.bit && block == left.block() && place.block - before == left.blocks();
  // Where the last block is, the parts behind have to know that, or they would write as well.
  if (broken || !(complete ? p.sum[part] >= needed : fits)) p.status->broken = 1;
  else if (complete) p.status->complete = 1;
}

// A block for each kJpegWriteThreads parts.
PS_FN void jpeg_write(const Launch& l) {
  PS_SHARED_MEMORY(memory);
  auto& m = held_in<JpegWriteMemory>(memory);
  const JpegBlock b = jpeg_block(l);
  const JpegPicture& p = b.picture;
  const uint32_t bits = jpeg_bits(p), all = count_parts(p, bits), first = uint32_t(b.number) * kJpegWriteThreads;
  if (first >= all) return;
  const uint32_t end = min(first + kJpegWriteThreads, all);
  if (first && p.sum[first - 1] >= p.needed) return;
  for (int i = thread(); i < p.blocks_in_mcu; i += threads()) {
    const JpegComponent& c = p.component[p.component_of[i]];
    m.target[i] = {c.differences + p.rank[i], uint32_t(c.blocks), p.slot[i]};
  }
  for (int i = thread(); i <= 64; i += threads()) m.place[i] = i < 64 ? p.place[i] : uint8_t(64);
  auto* zeros = reinterpret_cast<uint32_t*>(m.blocks);
  for (int i = thread(); i < int(sizeof m.blocks / 4); i += threads()) zeros[i] = 0;
  const JpegStretch stretch = load_stretch(p, reinterpret_cast<uint32_t*>(memory + sizeof(JpegWriteMemory)),
                                           first * p.part_bits, min(end * p.part_bits, bits),
                                           jpeg_stretch(write_bits(p)));
  load_tables(p, m.tables);
  for (uint32_t part = first + uint32_t(thread()); part < end; part += uint32_t(threads()))
    write_part(p, m, stretch, part, bits);
}
#endif

}  // namespace ps::device
