// Where each part of a scan begins: with the first block at its first bit or behind. Nobody knows that without having
// decoded all before; but a decoder that begins anywhere soon falls into step with the one that began at the start. So
// each group of parts is decoded from a guess somewhat before it. Where the decoder of the group before comes to
// another end than that guess, it goes on through the parts behind until it is in step. The way of the first part's
// decoder, which knows, then leads over from one to the next.
//
// None of this need be right: jpeg_coefficients.h checks that the parts fit together.
#pragma once

#include "kernels/device/block_scan.h"
#include "kernels/device/jpeg_huffman.h"

namespace ps::device {

struct JpegJoinMemory {
  JpegTables tables;
  uint32_t count, next;
  uint32_t parts[kJpegSeams];          // of which the decoder before is not in step
};

struct JpegSettleMemory {
  static constexpr uint32_t kParts = 8192;       // looked at together
  static constexpr uint8_t kReached = 128;
  JpegTables tables;
  uint8_t seams[kParts];
  uint32_t marks[kParts / 32];         // a bit for each that is not 0
  uint32_t totals[kJpegThreads];
};

#if !PS_HOST
// A block for each kJpegScanThreads groups of parts.
PS_FN void jpeg_synchronize(const Launch& l) {
  PS_SHARED_MEMORY(memory);
  auto& tables = held_in<JpegTables>(memory);
  const JpegBlock b = jpeg_block(l);
  const JpegPicture& p = b.picture;
  const uint32_t bits = jpeg_bits(p), all = count_parts(p, bits);
  const uint32_t first = uint32_t(b.number) * kJpegScanThreads, groups = (all + p.group - 1) / p.group;
  if (first >= groups) return;
  load_tables(p, tables);
  const uint32_t end = min(first + kJpegScanThreads, groups);
  for (uint32_t next = first; next < end; next += uint32_t(threads())) {
    const uint32_t number = next + uint32_t(thread()), group = min(number, end - 1);
    uint32_t part = group * p.group;
    const uint32_t last = min(part + p.group, all), begin = part * p.part_bits, segment = find_segment(p, begin);
    JpegCursor c(p, begin - min(p.guess_bits, begin - p.segment[segment]), 0, segment);
    bool entered = false;
    pass_over<false>(p, tables, c, number == group, begin, [&](JpegCursor& at, uint32_t& to) {
      if (entered) on_gpu(p.part)[part++] = at.state();
      else on_gpu(p.entry)[group] = at.state();
      entered = true;
      at.blocks = 0;
      if (part < last) to = part_end(p, part, bits);
      return part < last;
    });
  }
}

// A block for each kJpegSeams seams: those at which parts begin.
PS_FN void jpeg_join(const Launch& l) {
  PS_SHARED_MEMORY(memory);
  auto& m = held_in<JpegJoinMemory>(memory);
  const JpegBlock b = jpeg_block(l);
  const JpegPicture& p = b.picture;
  const uint32_t bits = jpeg_bits(p), all = count_parts(p, bits), first = uint32_t(b.number) * kJpegSeams;
  if (first >= all) return;
  if (thread() == 0) m.count = m.next = 0;
  sync();
  for (uint32_t k = first + uint32_t(thread()); k < min(first + kJpegSeams, all); k += uint32_t(threads())) {
    if (k == 0 || k % p.group != 0 || in_step(p.part[k - 1], p.entry[k / p.group])) p.seam[k] = 0;
    else m.parts[take_number(&m.count)] = k;
  }
  sync();
  if (m.count == 0) return;
  load_tables(p, m.tables);
  // A thread takes the next one as soon as it is done with one: some are much longer than others.
  uint32_t part = 0, passed = 0;
  const auto take = [&](JpegCursor& c, uint32_t& end) {
    const uint32_t i = take_number(&m.next);
    if (i >= m.count) return false;
    part = m.parts[i], passed = 0;
    c = JpegCursor(p, p.part[part - 1]);
    end = part_end(p, part, bits);
    return true;
  };
  JpegCursor c(p, 0, 0, 0);
  pass_over<false>(p, m.tables, c, true, 0, [&](JpegCursor& at, uint32_t& end) {
    if (end == 0) return take(at, end);
    const JpegState state = at.state();
    const uint32_t now = part + passed;
    p.slot_states[uint64_t(part) * kJpegSlots + passed++] = state;
    const bool done = now + 1 == all || in_step(state, p.part[now]);
    if (done || passed == kJpegSlots) {
      p.seam[part] = uint8_t(done ? passed : kJpegSlots + 1);
      if (!done) p.status->unsettled = 1;
      return take(at, end);
    }
    at.blocks = 0;
    end = part_end(p, now + 1, bits);
    return true;
  });
}

// Goes on from the last state that the decoder before `part` came to, until it is in step. That takes long in large
// areas of one colour, where no other is. Returns the first part behind.
PS_FN uint32_t join_in_order(const JpegPicture& p, const JpegTables& tables, uint32_t part, uint32_t bits,
                             uint32_t all) {
  JpegCursor c(p, p.slot_states[uint64_t(part) * kJpegSlots + kJpegSlots - 1]);
  uint32_t now = part + kJpegSlots;
  pass_over<true>(p, tables, c, true, part_end(p, now, bits), [&](JpegCursor& at, uint32_t& end) {
    const JpegState state = at.state();
    const bool done = now + 1 == all || in_step(state, p.part[now]);
    p.part[now++] = state;
    at.blocks = 0;
    if (!done) end = part_end(p, now, bits);
    return !done;
  });
  return now;
}

// A block for each picture.
PS_FN void jpeg_settle(const Launch& l) {
  PS_SHARED_MEMORY(memory);
  auto& m = held_in<JpegSettleMemory>(memory);
  const JpegPicture& p = jpeg_block(l).picture;
  const uint32_t bits = jpeg_bits(p), all = count_parts(p, bits);
  if (p.status->unsettled) load_tables(p, m.tables);
  uint32_t next = 0;                   // of the parts where the decoder that knows is that of the part before
  for (uint32_t first = 0; first < all; first += m.kParts) {
    const uint32_t count = min(m.kParts, all - first);
    for (uint32_t i = uint32_t(thread()) * 32; i < count; i += uint32_t(threads()) * 32) {
      uint32_t marks = 0;
      for (uint32_t k = i; k < min(i + 32, count); k++) {
        m.seams[k] = p.seam[first + k];
        marks |= uint32_t(m.seams[k] != 0) << (k - i);
      }
      m.marks[i / 32] = marks;
    }
    sync();
    while (thread() == 0 && next < first + count) {
      const uint32_t k = next - first, marks = m.marks[k / 32] >> k % 32;
      if (!marks) {
        next += 32 - k % 32;
        continue;
      }
      next += uint32_t(lowest_one(marks));
      uint8_t& seam = m.seams[next - first];
      const uint32_t parts = seam;
      seam |= m.kReached;
      next = parts <= kJpegSlots ? next + parts : join_in_order(p, m.tables, next, bits, all);
    }
    sync();
    for (uint32_t k = uint32_t(thread()); k < count; k += uint32_t(threads())) {
      if (!(m.seams[k] & m.kReached)) continue;
      const uint32_t part = first + k, parts = min(uint32_t(m.seams[k] - m.kReached), uint32_t(kJpegSlots));
      for (uint32_t i = 0; i < parts; i++) p.part[part + i] = p.slot_states[uint64_t(part) * kJpegSlots + i];
    }
    sync();
  }
  for (uint32_t i = uint32_t(thread()); i < all; i += uint32_t(threads())) p.sum[i] = p.part[i].blocks();
  sync();
  scan_values(p.sum, all, m.totals, uint32_t(0), JoinSums());
}
#endif

}  // namespace ps::device
