// Where the decoder stands at the end of each part of a scan. Nobody knows that without having decoded all before; but
// a decoder that begins anywhere soon falls into step with the one that began at the start. So each part is decoded
// from a guess, and on through the parts behind it, until the outcome is what is already known of one.
//
// None of this need be right: jpeg_coefficients.h checks that the parts fit together.
#pragma once

#include "kernels/device/block_scan.h"
#include "kernels/device/jpeg_huffman.h"

namespace ps::device {

struct JpegSynchronizeMemory {
  JpegTables tables;
  JpegPart known[kJpegParts], ours[kJpegParts];    // of each part; where the decoder that began at it stands
  uint8_t going[kJpegParts], moved[kJpegParts];    // it has not fallen into step; it has been through another part
  int any;
};

#if !PS_HOST
// A block for each sequence of parts.
PS_FN void jpeg_synchronize(const Launch& l) {
  PS_SHARED_MEMORY(memory);
  auto& m = *reinterpret_cast<JpegSynchronizeMemory*>(memory);
  const JpegBlock b = jpeg_block(l);
  const JpegPicture& p = b.picture;
  const uint32_t bits = jpeg_bits(p), all = count_parts(bits), first = uint32_t(b.number) * kJpegParts;
  if (first >= all) return;
  const int count = int(min(uint32_t(kJpegParts), all - first));
  load_tables(p, m.tables);
  JpegPassOver pass;
  for (int i = thread(); i < count; i += threads()) {
    const uint32_t part = first + uint32_t(i);
    JpegCursor c(p, part * kJpegPartBits, 0);
    decode_part(p, m.tables, c, part_end(part, bits), pass);
    m.known[i] = m.ours[i] = c.part();
    m.going[i] = 1;
  }
  for (int round = 1; round < count; round++) {
    sync();
    if (thread() == 0) m.any = 0;
    sync();
    for (int i = thread(); i < count; i += threads()) {
      const int k = i + round;
      m.moved[i] = m.going[i] && k < count;
      if (!m.moved[i]) continue;
      JpegCursor c(p, m.ours[i].bit, m.ours[i].place);
      decode_part(p, m.tables, c, part_end(first + uint32_t(k), bits), pass);
      m.ours[i] = c.part();
      if (same_end(m.ours[i], m.known[k])) m.going[i] = 0;
      else m.any = 1;
    }
    sync();
    for (int i = thread(); i < count; i += threads())
      if (m.moved[i]) m.known[i + round] = m.ours[i];
    if (!m.any) break;
  }
  sync();
  for (int i = thread(); i < count; i += threads()) p.part[first + uint32_t(i)] = m.known[i];
}

// Goes on from the sequence before `sequence` into it, until it is in step there. Returns whether it came to be.
PS_FN bool join_sequence(const JpegPicture& p, const JpegTables& tables, uint32_t sequence, uint32_t bits,
                         uint32_t all) {
  const uint32_t first = sequence * kJpegParts, end = min(first + kJpegParts, all);
  JpegPassOver pass;
  JpegPart state = p.part[first - 1];
  for (uint32_t k = first; k < end; k++) {
    JpegCursor c(p, state.bit, state.place);
    decode_part(p, tables, c, part_end(k, bits), pass);
    state = c.part();
    const bool in_step = same_end(state, p.part[k]);
    p.part[k] = state;
    if (in_step) return true;
  }
  return end == all;
}

// All seams of sequences at a time, a thread for each.
PS_FN void jpeg_join(const Launch& l) {
  PS_SHARED_MEMORY(memory);
  auto& tables = *reinterpret_cast<JpegTables*>(memory);
  const JpegBlock b = jpeg_block(l);
  const JpegPicture& p = b.picture;
  const uint32_t bits = jpeg_bits(p), all = count_parts(bits);
  const uint32_t begin = uint32_t(b.number) * kJpegSeams + 1;
  if (begin * kJpegParts >= all) return;
  load_tables(p, tables);
  for (uint32_t s = begin + uint32_t(thread()); s < begin + kJpegSeams; s += uint32_t(threads()))
    if (s * kJpegParts < all && !join_sequence(p, tables, s, bits, all)) p.status->unsettled = 1;
}

// Where a whole sequence was wrong, so is the beginning of the next one. That is so in large areas of one colour, and
// then there is nothing for it but to take one after the other. A block for each picture.
PS_FN void jpeg_join_in_order(const Launch& l) {
  PS_SHARED_MEMORY(memory);
  auto& tables = *reinterpret_cast<JpegTables*>(memory);
  const JpegPicture& p = jpeg_block(l).picture;
  if (!p.status->unsettled) return;
  load_tables(p, tables);
  const uint32_t bits = jpeg_bits(p), all = count_parts(bits);
  if (thread() == 0)
    for (uint32_t s = 1; s * kJpegParts < all; s++) join_sequence(p, tables, s, bits, all);
}

// A block for each picture.
PS_FN void jpeg_sum(const Launch& l) {
  PS_SHARED_MEMORY(memory);
  const JpegPicture& p = jpeg_block(l).picture;
  const uint32_t all = count_parts(jpeg_bits(p));
  for (uint32_t i = uint32_t(thread()); i < all; i += uint32_t(threads())) p.sum[i] = p.part[i].blocks;
  sync();
  scan_values(p.sum, all, reinterpret_cast<uint32_t*>(memory), uint32_t(0), JoinSums());
}
#endif

}  // namespace ps::device
