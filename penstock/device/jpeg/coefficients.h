// Decodes the subsequences of scans to sparse coefficients, and checks all that may be wrong: if this finds no fault,
// the result is that of a decoder that began at the start. Nothing happens at the end of a block that other lanes
// would wait for.
#pragma once

#include "device/jpeg/huffman.h"
#include "device/jpeg/sparse.h"

namespace ps::device {

// A block of the MCU: all that changes where one ends, in one load, and what its DC value is written to.
struct alignas(16) JpegLink {
  uint32_t dc, ac;                     // where the tables lie
  uint32_t next;                       // where the block behind lies among these
  uint32_t begins_mcu;                 // 1: it is the first
  int16_t* differences;
  uint32_t step;                       // bytes from one MCU's difference to the next one's
  uint32_t index;
};
struct alignas(16) JpegLinkTables {    // its first half
  uint32_t dc, ac, next, begins_mcu;
};

// Behind these: a stretch of the scan.
struct JpegCoefficientMemory {
  JpegTables<uint16_t> tables;
  JpegLink link[kJpegBlocksInMcu];
};

PS_FN uint32_t coefficient_bits(const JpegPicture& p) { return kJpegCoefficientThreads * p.subsequence_bits; }

#if !PS_HOST
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

PS_FN void store_difference(const JpegLink& link, uint32_t mcu, int value) {
  auto* bytes = reinterpret_cast<uint8_t*>(link.differences) + uint64_t(mcu) * link.step;
  *on_gpu(reinterpret_cast<int16_t*>(bytes)) = int16_t(value);
}

// Stores a subsequence's coefficients, up to the last block that the window needs. Returns how many vectors they take.
PS_FN uint32_t decode_subsequence(const JpegPicture& p, const JpegCoefficientMemory& m, const JpegStretch& stretch,
                                  uint32_t subsequence, uint32_t bits) {
  const uint32_t before = subsequence ? p.sum[subsequence - 1] : 0, needed = p.needed;
  const uint32_t end = subsequence_end(p, subsequence, bits);
  if (before >= needed) return 0;                  // behind the last block anything may follow
  const JpegState from = subsequence ? p.exit[subsequence - 1] : JpegState{0, 0}, left = p.exit[subsequence];
  const uint32_t room = p.sparse_vectors;
  record_spans(p, subsequence, before, min(p.sum[subsequence], needed));
  JpegSparseVector* const sparse = sparse_of(p, subsequence);
  uint32_t vectors = 0;
  JpegCursor c(p, stretch.words(from.bit, end), from);
  const auto blocks_in_mcu = uint32_t(p.blocks_in_mcu);
  // `last`: how many blocks there are up to the segment's end. So what pads its last byte is not taken for one.
  const auto last_of = [&](uint32_t segment) { return min((segment + 1) * p.segment_blocks, needed) - before; };
  uint32_t block = c.block(), mcu = before / blocks_in_mcu, passed = 0, last = last_of(c.segment);
  uint32_t broken = before != mcu * blocks_in_mcu + block || before - c.segment * p.segment_blocks > p.segment_blocks;
  bool complete = false;
  const auto link_at = [&](uint32_t place) -> const JpegLink& {
    return *reinterpret_cast<const JpegLink*>(reinterpret_cast<const uint8_t*>(m.link) + place);
  };
  uint32_t link = block * sizeof(JpegLink);
  // Between two blocks, at the end of a segment or of the subsequence.
  const auto arrive = [&] {
    complete = before + passed == needed;
    broken |= c.bit > c.segment_end || (c.bit == c.segment_end && passed != last);
    if (complete) {                    // if not, there are blocks in excess before a restart marker
      broken |= needed - 1 - c.segment * p.segment_blocks >= p.segment_blocks;
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
    JpegSparseVector vector{{tag + uint32_t(index + 1)}};
    uint32_t arrived = 0;
    PS_UNROLL for (int k = 1; k <= JpegSparseVector::kSymbols; k++) {
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
      if (index < 0) store_difference(link_at(link), mcu, value);
      index += int(entry >> 9);
      const bool ended = index >= 63;
      const uint32_t run = ((entry << 2) - (1 << 11)) & (15 << 11);
      vector.words[k / 2] |= ((uint32_t(value) & 0x7FF) | run | uint32_t(ended) << 15) << (k % 2 * 16);
      if (index > 63 && entry >> 9 != kJpegEndOfBlock) broken = 1;
      link = ended ? tables.next : link;
      load_link_if(ended, &link_at(link), tables);
      if (ended) mcu += tables.begins_mcu;
      if (ended) tag += 128;
      index = ended ? -1 : index;
      table = ended ? tables.dc : tables.ac;
      if (ended && (c.bit >= limit || tag == last_tag)) arrived = 1;
    }
    sparse[vectors++ * kJpegSparseColumns] = vector;
    if (vectors == room) broken = 1, going = 0;
    if (arrived && going) {
      passed = tag >> 7;
      going = arrive();
      limit = min(end, c.segment_end), last_tag = last << 7;
    }
  }
  passed = tag >> 7, block = link_at(link).index;
  const uint32_t sum = p.sum[subsequence];
  // The sum behind the last block has to say so, or the subsequences that follow would write as well.
  const bool fits = complete ? sum >= needed
                             : c.bit == left.bit && block == left.block() && passed == left.blocks() &&
                                   sum == before + passed;
  if (broken || !fits) p.status->broken = 1;
  else if (complete) p.status->complete = 1;
  return vectors;
}

// A block for each kJpegCoefficientThreads subsequences.
PS_FN void jpeg_coefficients(const Launch& l) {
  PS_SHARED_MEMORY(memory);
  auto& m = held_in<JpegCoefficientMemory>(memory);
  const JpegBlock b = jpeg_block(l);
  const JpegPicture& p = b.picture;
  const uint32_t bits = jpeg_bits(p), all = count_subsequences(p, bits);
  const uint32_t first = uint32_t(b.index) * kJpegCoefficientThreads;
  if (first >= all) return;
  const uint32_t end = min(first + kJpegCoefficientThreads, all);
  if (first && p.sum[first - 1] >= p.needed) return;
  for (int i = thread(); i < p.blocks_in_mcu; i += threads()) {
    const JpegComponent& c = p.component[p.component_of[i]];
    constexpr uint32_t size = sizeof m.tables.table[0];
    const uint32_t next = i + 1 < p.blocks_in_mcu ? uint32_t(i + 1) : 0;
    m.link[i] = {p.dc_table[i] * size, p.ac_table[i] * size, next * uint32_t(sizeof(JpegLink)), i == 0,
                 c.differences + p.rank[i], uint32_t(c.blocks) * 2, uint32_t(i)};
  }
  const JpegStretch stretch = load_stretch(p, reinterpret_cast<uint32_t*>(memory + sizeof(JpegCoefficientMemory)),
                                           first * p.subsequence_bits, min(end * p.subsequence_bits, bits),
                                           jpeg_stretch(coefficient_bits(p)));
  load_tables(p, m.tables);
  for (uint32_t subsequence = first + uint32_t(thread()); subsequence < end; subsequence += uint32_t(threads()))
    on_gpu(p.sparse_length)[subsequence] = decode_subsequence(p, m, stretch, subsequence, bits);
}
#endif

}  // namespace ps::device
