// Decodes parts of scans symbol by symbol, for whoever wants them, and checks all that may be wrong: if this finds no
// fault, the result is that of a decoder that began at the start. Nothing happens at the end of a block that other
// lanes would wait for.
#pragma once

#include "kernels/device/jpeg_huffman.h"

namespace ps::device {

// A block of the MCU: all that changes where one ends, in one load, and what its DC value is written to.
struct alignas(16) JpegLink {
  uint32_t dc, ac;                     // where the tables lie
  uint32_t next;                       // where the block behind lies among these
  uint32_t begins_mcu;                 // 1: it is the first
  int16_t* differences;
  uint32_t step;                       // bytes from one MCU's difference to the next one's
  uint32_t number;
};
struct alignas(16) JpegLinkTables {    // its first half
  uint32_t dc, ac, next, begins_mcu;
};

// What decoders look at.
struct JpegScanMemory {
  JpegTables<uint16_t> tables;
  JpegLink link[kJpegBlocksInMcu];
};

#if !PS_HOST
// The number that these uppermost bits stand for, `size` of them.
PS_FN int value_of_bits(uint32_t bits, uint32_t size) {
  const int sign = int(bits) >> 31;                // of a one: the number is positive
#if defined(__CUDACC_RTC__)
  const uint32_t magnitude = __funnelshift_rc(bits ^ ~uint32_t(sign), 0, 32 - size);
#else
  const uint32_t magnitude = uint32_t(uint64_t(bits ^ ~uint32_t(sign)) >> (32 - size));
#endif
  return int(magnitude ^ ~uint32_t(sign)) + (sign + 1);
}

// Without a branch, and into the very registers: see load_if.
PS_FN void load_link_if(bool wanted, const JpegLink* from, JpegLinkTables& to) {
#if defined(__CUDACC_RTC__)
  asm volatile("{ .reg .pred p; setp.ne.u32 p, %4, 0; @p ld.shared.v4.u32 {%0, %1, %2, %3}, [%5]; }"
               : "+r"(to.dc), "+r"(to.ac), "+r"(to.next), "+r"(to.begins_mcu)
               : "r"(uint32_t(wanted)), "r"(uint32_t(__cvta_generic_to_shared(from))));
#else
  if (wanted) to = reinterpret_cast<const JpegLinkTables&>(*from);
#endif
}

// Gives all symbols of a part to `sink`, four at a time: sink.begin(blocks before, blocks of the part);
// sink.symbol(k, number of the block << 7, index, value), the index above 63 where it is no coefficient;
// sink.difference(link, MCU, value), where k has none left sink.nothing(k); sink.next(), which is false if there is no
// room left.
template <class Sink>
PS_FN void decode_part(const JpegPicture& p, const JpegScanMemory& m, const JpegStretch& stretch, uint32_t part,
                       uint32_t bits, Sink& sink) {
  const uint32_t before = part ? p.sum[part - 1] : 0, end = part_end(p, part, bits);
  if (before >= p.blocks) return;                  // behind the last block anything may follow
  const JpegState from = part ? p.part[part - 1] : JpegState{0, 0}, left = p.part[part];
  sink.begin(before, min(left.blocks(), p.blocks - before));
  JpegCursor c(p, stretch.words(from.bit, end), from);
  const auto blocks_in_mcu = uint32_t(p.blocks_in_mcu);
  // `last`: how many blocks are passed when the segment is over. So what fills up its last byte is not taken for one.
  const auto last_of = [&](uint32_t segment) { return min((segment + 1) * p.segment_blocks, p.blocks) - before; };
  uint32_t block = c.block(), mcu = before / blocks_in_mcu, passed = 0, last = last_of(c.segment);
  uint32_t broken = before != mcu * blocks_in_mcu + block || before - c.segment * p.segment_blocks > p.segment_blocks;
  bool complete = false;
  const auto link_at = [&](uint32_t place) -> const JpegLink& {
    return *reinterpret_cast<const JpegLink*>(reinterpret_cast<const uint8_t*>(m.link) + place);
  };
  uint32_t link = block * sizeof(JpegLink);
  // Between two blocks, at the end of a segment or of the part.
  const auto arrive = [&] {
    complete = before + passed == p.blocks;
    broken |= c.bit > c.segment_end || (c.bit == c.segment_end && passed != last);
    if (complete) {
      broken |= c.segment + 1 != p.segments;       // there are blocks in excess before a restart marker
    } else if (passed == last && c.bit < end) {
      broken |= c.segment_end - c.bit >= 8 || link != 0;
      if (broken) return 0u;           // the segment's end may be anywhere
      c.leave(p);
      last = last_of(c.segment);
      broken |= before + passed != c.segment * p.segment_blocks;
    }
    return uint32_t(c.bit < end && !complete && !broken);
  };
  uint32_t going = !broken && c.bit < end;
  if (going && passed == last) going = arrive();
  uint32_t limit = min(end, c.segment_end), tag = 0, last_tag = last << 7;
  JpegLinkTables tables = reinterpret_cast<const JpegLinkTables&>(link_at(link));
  uint32_t table = tables.dc;
  int index = -1;                                  // of the last coefficient
  PS_LOOP for (; going; in_one_loop(going)) {
    uint32_t arrived = 0;
    PS_UNROLL for (int k = 0; k < 4; k++) {
      sink.nothing(k);
      if (arrived) continue;
      const uint32_t window = c.window();
      uint32_t entry = m.tables.at(table).quick[quick_place(window)];
      if (entry == 0) {
        entry = find_long_code(m.tables.at(table).longer, window);
        broken |= entry >> 9 == kJpegNoCode;
      }
      const uint32_t length = entry & 31, size = entry >> 5 & 15;
      const int value = value_of_bits(window << (length - size), size);
      c.skip(length);
      if (index < 0) sink.difference(link_at(link), mcu, value);
      index += int(entry >> 9);
      sink.symbol(k, tag, uint32_t(index), value);
      const bool ended = index >= 63;
      if (index > 63 && entry >> 9 != kJpegEndOfBlock) broken = 1;
      link = ended ? tables.next : link;
      load_link_if(ended, &link_at(link), tables);
      if (ended) mcu += tables.begins_mcu;
      if (ended) tag += 128;
      index = ended ? -1 : index;
      table = ended ? tables.dc : tables.ac;
      if (ended && (c.bit >= limit || tag == last_tag)) arrived = 1;
    }
    if (!sink.next()) broken = 1, going = 0;
    if (arrived && going) {
      passed = tag >> 7;
      going = arrive();
      limit = min(end, c.segment_end), last_tag = last << 7;
    }
  }
  passed = tag >> 7, block = link_at(link).number;
  const bool fits = c.bit == left.bit && block == left.block() && passed == left.blocks();
  if (broken || (!complete && !fits)) p.status->broken = 1;
  else if (complete) p.status->complete = 1;
}

// All threads.
PS_FN void load_scan(const JpegPicture& p, JpegScanMemory& m) {
  for (int i = thread(); i < p.blocks_in_mcu; i += threads()) {
    const JpegComponent& c = p.component[p.component_of[i]];
    constexpr uint32_t size = sizeof m.tables.table[0];
    const uint32_t next = i + 1 < p.blocks_in_mcu ? uint32_t(i + 1) : 0;
    m.link[i] = {p.dc_table[i] * size, p.ac_table[i] * size, next * uint32_t(sizeof(JpegLink)), i == 0,
                 c.differences + p.rank[i], uint32_t(c.blocks) * 2, uint32_t(i)};
  }
  load_tables(p, m.tables);
}
#endif

}  // namespace ps::device
