// A decoder of one part of a scan, from wherever it stands.
#pragma once

#include "kernels/device/bits.h"
#include "kernels/device/jpeg_table.h"

namespace ps::device {

// A picture's, in shared memory.
struct JpegTables {
  JpegTable table[kJpegTables];
  uint8_t dc[16], ac[16], place[64];
};

#if !PS_HOST
PS_FN void load_tables(const JpegPicture& p, JpegTables& to) {
  constexpr int words = sizeof(JpegTable) / 4;
  for (int i = thread(); i < words * kJpegTables; i += threads()) {
    const JpegTable* from = p.table[i / words];
    if (from) reinterpret_cast<uint32_t*>(to.table)[i] = reinterpret_cast<const uint32_t*>(from)[i % words];
  }
  for (int i = thread(); i < 16; i += threads()) to.dc[i] = p.dc_table[i], to.ac[i] = p.ac_table[i];
  for (int i = thread(); i < 64; i += threads()) to.place[i] = p.place[i];
  sync();
}

struct JpegCursor {
  uint32_t bit, blocks;                // blocks: finished since the part began
  uint32_t block, index;               // within the MCU; of the next coefficient
  uint32_t segment, segment_end;

  PS_FN JpegCursor(const JpegPicture& p, uint32_t at, uint32_t where)
      : bit(at), blocks(0), block(where >> 8), index(where & 255), segment(0) {
    for (uint32_t high = p.segments; high - segment > 1;) {
      const uint32_t middle = (segment + high) / 2;
      if (p.segment[middle] <= bit) segment = middle;
      else high = middle;
    }
    segment_end = p.segment[segment + 1];
  }
  PS_FN JpegPart part() const { return {bit, blocks, block << 8 | index}; }
};
PS_FN bool same_end(const JpegPart& a, const JpegPart& b) { return a.bit == b.bit && a.place == b.place; }

// From the upper half of (first:second) << shift, for shifts below 32.
PS_FN uint32_t bits_at(uint32_t first, uint32_t second, uint32_t shift) {
#if defined(__CUDACC_RTC__)
  return __funnelshift_l(second, first, shift);
#else
  return uint32_t((uint64_t(first) << 32 | second) << shift >> 32);
#endif
}

// Goes on up to the bit `end`, or a little further. Whether what it finds makes sense is the visitor's business:
//   symbol(cursor, window, entry)   before each; the cursor is where the symbol begins
//   finished(cursor)                after each block; true: it was the last one
//   leave(cursor)                   before it goes on to the next segment
template <class Visit>
PS_FN void decode_part(const JpegPicture& p, const JpegTables& t, JpegCursor& c, uint32_t end, Visit& visit) {
  if (c.bit >= end) return;
  const auto* words = reinterpret_cast<const uint32_t*>(p.data);
  const auto blocks_in_mcu = uint32_t(p.blocks_in_mcu);
  uint32_t word = c.bit >> 5, first = words[word], second = words[word + 1];
  uint32_t dc = t.dc[c.block], ac = t.ac[c.block];
  const auto leave = [&] {
    visit.leave(c);
    c.bit = c.segment_end;
    c.block = c.index = 0;
    if (++c.segment < p.segments) c.segment_end = p.segment[c.segment + 1];
    dc = t.dc[0], ac = t.ac[0];
  };
  while (c.bit < end) {
    const uint32_t window = bits_at(first, second, c.bit & 31);
    const JpegTable& table = t.table[c.index ? ac : dc];
    uint32_t entry = table.quick[window >> (32 - JpegTable::kBits)];
    if (!entry) entry = find_long_code(table, window);
    const uint32_t length = entry & 31;
    if (length > c.segment_end - c.bit) {
      leave();
    } else {
      visit.symbol(c, window, entry);
      c.bit += length;
      c.index += entry >> 9;
      if (c.index >= 64) {
        c.index = 0;
        c.blocks++;
        c.block = c.block + 1 == blocks_in_mcu ? 0 : c.block + 1;
        dc = t.dc[c.block], ac = t.ac[c.block];
        if (visit.finished(c)) return;
      }
    }
    const uint32_t now = c.bit >> 5;
    if (now != word) {
      first = now == word + 1 ? second : words[now];
      second = words[now + 1];
      word = now;
    }
  }
  if (c.bit == c.segment_end) leave();
}

struct JpegPassOver {
  PS_FN void symbol(const JpegCursor&, uint32_t, uint32_t) {}
  PS_FN bool finished(const JpegCursor&) { return false; }
  PS_FN void leave(const JpegCursor&) {}
};

// The parts that a scan really has.
PS_FN uint32_t jpeg_bits(const JpegPicture& p) { return p.segment[p.segments]; }
PS_FN uint32_t part_end(uint32_t part, uint32_t bits) { return min((part + 1) * kJpegPartBits, bits); }
PS_FN uint32_t count_parts(uint32_t bits) { return (bits + kJpegPartBits - 1) / kJpegPartBits; }
#endif

}  // namespace ps::device
