// Decodes the parts of scans to coefficients, and checks all that may be wrong: if this finds no fault, the result is
// that of a decoder that began at the start.
#pragma once

#include "kernels/device/jpeg_huffman.h"

namespace ps::device {

#if !PS_HOST
struct JpegWrite {
  const JpegPicture& p;
  const JpegTables& t;
  uint32_t block;                      // in the scan
  uint32_t in_mcu, column, row;        // in its MCU; of the MCU
  int16_t* coefficients;               // null: nobody wants them
  int16_t* dc;
  bool broken = false, complete = false;

  PS_FN JpegWrite(const JpegPicture& picture, const JpegTables& tables, uint32_t first)
      : p(picture), t(tables), block(first) {
    const uint32_t mcu = first / uint32_t(p.blocks_in_mcu);
    in_mcu = first - mcu * uint32_t(p.blocks_in_mcu);
    row = mcu / uint32_t(p.mcus_across);
    column = mcu - row * uint32_t(p.mcus_across);
    aim();
  }
  PS_FN void aim() {
    const JpegComponent& c = p.component[p.component_of[in_mcu]];
    const int64_t mcu = int64_t(row) * p.mcus_across + column;
    dc = c.dc + mcu * c.blocks + p.rank[in_mcu];
    const uint32_t x = column - uint32_t(p.mcu_column), y = row - uint32_t(p.mcu_row);
    const int slot = p.slot[in_mcu];
    coefficients = nullptr;
    if (slot >= 0 && x < uint32_t(p.mcu_columns) && y < uint32_t(p.mcu_rows))
      coefficients = p.coefficients + ((int64_t(y) * p.mcu_columns + x) * p.kept_in_mcu + slot) * 64;
  }
  PS_FN void symbol(const JpegCursor& c, uint32_t window, uint32_t entry) {
    const uint32_t length = entry & 31, size = entry >> 5 & 15, advance = entry >> 9;
    int value = 0;
    if (size) {
      const uint32_t bits = window << (length - size) >> (32 - size);
      value = int(bits) - (bits >> (size - 1) ? 0 : (1 << size) - 1);
    }
    if (c.index == 0) *dc = int16_t(value);
    const uint32_t next = c.index + advance;
    if (advance == kJpegNoCode || (advance != kJpegEndOfBlock && next > 64)) broken = true;
    else if (c.index && size && coefficients) coefficients[t.place[next - 1]] = int16_t(value);
  }
  PS_FN bool finished(const JpegCursor& c) {
    if (++in_mcu == uint32_t(p.blocks_in_mcu)) {
      in_mcu = 0;
      if (++column == uint32_t(p.mcus_across)) column = 0, row++;
    }
    if (++block < p.blocks) {
      aim();
    } else {
      complete = true;
      broken |= c.segment + 1 != p.segments;       // there are blocks in excess before a restart marker
    }
    return complete || broken;
  }
  // A segment has to have been used up to its last byte, and to have just so many blocks.
  PS_FN void leave(const JpegCursor& c) {
    if (c.block || c.index || c.segment_end - c.bit >= 8 || block != (c.segment + 1) * p.segment_blocks) broken = true;
  }
};

// A block for each sequence of parts.
PS_FN void jpeg_write(const Launch& l) {
  PS_SHARED_MEMORY(memory);
  auto& tables = *reinterpret_cast<JpegTables*>(memory);
  const JpegBlock b = jpeg_block(l);
  const JpegPicture& p = b.picture;
  const uint32_t bits = jpeg_bits(p), all = count_parts(bits), first = uint32_t(b.number) * kJpegParts;
  if (first >= all) return;
  const uint32_t end = min(first + kJpegParts, all);
  if (first && p.sum[first - 1] >= p.blocks) return;
  load_tables(p, tables);
  for (uint32_t k = first + uint32_t(thread()); k < end; k += uint32_t(threads())) {
    const uint32_t before = k ? p.sum[k - 1] : 0;
    if (before >= p.blocks) continue;              // behind the last block anything may follow
    const JpegPart start = k ? p.part[k - 1] : JpegPart{0, 0, 0};
    JpegWrite write(p, tables, before);
    JpegCursor c(p, start.bit, start.place);
    if (write.in_mcu != c.block) write.broken = true;
    else decode_part(p, tables, c, part_end(k, bits), write);
    const bool fits = same_end(c.part(), p.part[k]) && c.blocks == p.part[k].blocks;
    if (write.broken || (!write.complete && !fits)) p.status->broken = 1;
    else if (write.complete) p.status->complete = 1;
  }
}
#endif

}  // namespace ps::device
