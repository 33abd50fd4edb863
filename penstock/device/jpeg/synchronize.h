// Where each part of a scan begins: with the first block at its first bit or behind. Nobody knows that without having
// decoded all before; but a decoder that begins anywhere soon falls into step with the one that began at the start. So
// each group of parts is decoded from a guess somewhat before it. Where the decoder of the group before comes to
// another end than that guess, it goes on through the parts behind until it is in step. The way of the first part's
// decoder, which knows, then leads over from one to the next.
//
// None of this need be right: coefficients.h checks that the parts fit together.
#pragma once

#include "device/base/block_scan.h"
#include "device/jpeg/huffman.h"

namespace ps::device {

// Behind these: a stretch of the scan.
struct JpegSynchronizeMemory {
  JpegTables<uint32_t> tables;
};

struct JpegJoinMemory {
  static constexpr uint32_t kWorthwhile = 16;    // decoders that have words in shared memory
  JpegTables<uint32_t> tables;
  uint32_t count, next;
  uint32_t parts[kJpegSeams];          // of which the decoder before is not in step
};

struct JpegSettleMemory {
  static constexpr uint32_t kParts = 8192, kChunk = 32;    // looked at together; of these by a thread
  static constexpr uint8_t kReached = 128;
  JpegTables<uint32_t> tables;
  uint8_t seams[kParts];
  uint32_t begin[kParts / kChunk], end[kParts / kChunk];   // where a chunk's walk begins, and where it leads to
  uint32_t wrong, totals[kJpegThreads];
};

PS_FN uint32_t synchronize_bits(const JpegPicture& p) {
  return kJpegScanThreads * p.group * p.part_bits + p.guess_bits;
}
// A decoder goes on behind the last seam's part.
PS_FN uint32_t join_bits(const JpegPicture& p) { return (kJpegSeams + 8) * p.part_bits; }

#if !PS_HOST
// A block for each kJpegScanThreads groups of parts.
PS_FN void jpeg_synchronize(const Launch& l) {
  PS_SHARED_MEMORY(memory);
  auto& tables = held_in<JpegSynchronizeMemory>(memory).tables;
  const JpegBlock b = jpeg_block(l);
  const JpegPicture& p = b.picture;
  const uint32_t bits = jpeg_bits(p), all = count_parts(p, bits), each = p.group * p.part_bits;
  const uint32_t first = uint32_t(b.number) * kJpegScanThreads, groups = (all + p.group - 1) / p.group;
  if (first >= groups) return;
  const uint32_t end = min(first + kJpegScanThreads, groups);
  const JpegStretch stretch =
      load_stretch(p, reinterpret_cast<uint32_t*>(memory + sizeof(JpegSynchronizeMemory)),
                   first * each - min(p.guess_bits, first * each), min(end * each, bits),
                   jpeg_stretch(synchronize_bits(p)));
  load_tables(p, tables);
  for (uint32_t group = first + uint32_t(thread()); group < end; group += uint32_t(threads())) {
    uint32_t part = group * p.group;
    const uint32_t last = min(part + p.group, all), begin = part * p.part_bits, segment = find_segment(p, begin);
    const uint32_t guess = begin - min(p.guess_bits, begin - p.segment[segment]);
    JpegCursor c(p, stretch.words(guess, begin), guess, 0, segment);
    bool entered = false;
    pass_over(p, tables, stretch, c, begin, [&](JpegCursor& at, uint32_t& to) {
      if (entered) on_gpu(p.part)[part++] = at.state();
      else on_gpu(p.entry)[group] = at.state();
      entered = true;
      at.begin_part();
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
  const uint32_t last = min(first + kJpegSeams, all);
  if (thread() == 0) m.count = m.next = 0;
  sync();
  for (uint32_t k = first + uint32_t(thread()); k < last; k += uint32_t(threads())) {
    if (k == 0 || k % p.group != 0 || in_step(p.part[k - 1], p.entry[k / p.group])) p.seam[k] = 0;
    else m.parts[take_number(&m.count)] = k;
  }
  sync();
  if (m.count == 0) return;
  const JpegStretch stretch =
      load_stretch(p, reinterpret_cast<uint32_t*>(memory + sizeof(JpegJoinMemory)), first * p.part_bits,
                   min((last + 8) * p.part_bits, bits), m.count < m.kWorthwhile ? 0 : jpeg_stretch(join_bits(p)));
  load_tables(p, m.tables);
  // A thread takes the next one as soon as it is done with one: some are much longer than others.
  uint32_t part = 0, passed = 0;
  const auto take = [&](JpegCursor& c, uint32_t& end) {
    const uint32_t i = take_number(&m.next);
    if (i >= m.count) return false;
    part = m.parts[i], passed = 0;
    const JpegState from = p.part[part - 1];
    end = part_end(p, part, bits);
    c = JpegCursor(p, stretch.words(from.bit, end), from);
    return true;
  };
  JpegCursor c(p, stretch.far, 0, 0, 0);
  pass_over(p, m.tables, stretch, c, 0, [&](JpegCursor& at, uint32_t& end) {
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
    at.begin_part();
    end = part_end(p, now + 1, bits);
    return true;
  });
}

// Goes on from the last state that the decoder before `part` came to, until it is in step. That takes long in large
// areas of one colour, where no other is. Returns the first part behind, but goes no further than to `limit`.
PS_FN uint32_t join_in_order(const JpegPicture& p, const JpegTables<uint32_t>& tables, uint32_t part, uint32_t bits,
                             uint32_t all, uint32_t limit) {
  const auto* words = reinterpret_cast<const uint32_t*>(p.data);
  const JpegStretch none{words, words, 0, 0};
  JpegCursor c(p, words, p.slot_states[uint64_t(part) * kJpegSlots + kJpegSlots - 1]);
  uint32_t now = part + kJpegSlots;
  pass_over(p, tables, none, c, part_end(p, now, bits), [&](JpegCursor& at, uint32_t& end) {
    const JpegState state = at.state();
    const bool done = now + 1 == all || in_step(state, p.part[now]);
    p.part[now++] = state;
    at.begin_part();
    if (!done) end = part_end(p, now, bits);
    return !done && now < limit;
  });
  return now;
}

// A walk from one decoder that knows to the next: each leads to where another one is in step with it.
PS_FN uint32_t walk(JpegSettleMemory& m, uint32_t at, uint32_t end, uint8_t mark) {
  PS_LOOP while (at < end) {
    const uint32_t parts = m.seams[at];
    if (parts) m.seams[at] |= mark;
    at += max(parts, 1u);
  }
  return at;
}

// Walks through `count` seams from `next` on and marks those that are reached. Returns where that leads to. Each chunk
// has a thread, which supposes that the walk comes to where the chunk begins, as long as it does not know better: ways
// meet soon.
PS_FN uint32_t walk_together(JpegSettleMemory& m, uint32_t next, uint32_t count) {
  const uint32_t chunks = (count + m.kChunk - 1) / m.kChunk;
  const auto each = [&](auto work) {
    for (uint32_t c = uint32_t(thread()); c < chunks; c += uint32_t(threads()))
      work(c, min((c + 1) * m.kChunk, count));
    sync();
  };
  each([&](uint32_t c, uint32_t) { m.begin[c] = c ? c * m.kChunk : next; });
  bool again = true;
  while (again) {
    each([&](uint32_t c, uint32_t end) {
      m.end[c] = walk(m, m.begin[c], end, 0);
      if (c == 0) m.wrong = 0;
    });
    each([&](uint32_t c, uint32_t) {
      if (c == 0 || m.begin[c] == m.end[c - 1]) return;
      m.begin[c] = m.end[c - 1];
      or_into(&m.wrong, 1);
    });
    again = m.wrong;
    sync();
  }
  each([&](uint32_t c, uint32_t end) { walk(m, m.begin[c], end, m.kReached); });
  return m.end[chunks - 1];
}

// By a thread alone, where some are not in step for long. `left`: parts that it may decode.
PS_FN uint32_t walk_alone(const JpegPicture& p, JpegSettleMemory& m, uint32_t next, uint32_t first, uint32_t count,
                          uint32_t bits, uint32_t all, uint32_t& left) {
  while (next < first + count) {
    uint8_t& seam = m.seams[next - first];
    const uint32_t parts = seam;
    if (parts) seam |= m.kReached;
    if (parts <= kJpegSlots) {
      next += max(parts, 1u);
    } else {
      const uint32_t from = next + kJpegSlots;
      next = join_in_order(p, m.tables, next, bits, all, from + left);
      left -= next - from;
      if (left == 0) {
        p.status->broken = 1;          // another decoder is quicker
        return all;
      }
    }
  }
  return next;
}

// A block for each picture.
PS_FN void jpeg_settle(const Launch& l) {
  PS_SHARED_MEMORY(memory);
  auto& m = held_in<JpegSettleMemory>(memory);
  const JpegPicture& p = jpeg_block(l).picture;
  const uint32_t bits = jpeg_bits(p), all = count_parts(p, bits);
  const bool unsettled = p.status->unsettled;
  if (unsettled) load_tables(p, m.tables);
  uint32_t left = kJpegInOrder / p.part_bits;
  uint32_t next = 0;                   // of the parts where the decoder that knows is that of the part before
  for (uint32_t first = 0; first < all; first += m.kParts) {
    const uint32_t count = min(m.kParts, all - first);
    PS_UNROLL
    for (uint32_t k = uint32_t(thread()); k < count; k += uint32_t(threads())) m.seams[k] = on_gpu(p.seam)[first + k];
    sync();
    if (!unsettled) next = first + walk_together(m, next - first, count);
    else if (thread() == 0) next = walk_alone(p, m, next, first, count, bits, all, left);
    sync();
    for (uint32_t k = uint32_t(thread()); k < count; k += uint32_t(threads())) {
      if (!(m.seams[k] & m.kReached)) continue;
      const uint32_t part = first + k, parts = min(uint32_t(m.seams[k] - m.kReached), uint32_t(kJpegSlots));
      for (uint32_t i = 0; i < parts; i++) p.part[part + i] = p.slot_states[uint64_t(part) * kJpegSlots + i];
    }
    sync();
  }
  const auto step = uint32_t(threads());
  for (uint32_t i = uint32_t(thread()); i < all; i += 4 * step) {
    uint32_t blocks[4];                // loaded together: nothing else here keeps the GPU busy
    PS_UNROLL for (uint32_t k = 0; k < 4; k++) blocks[k] = p.part[min(i + k * step, all - 1)].blocks();
    PS_UNROLL for (uint32_t k = 0; k < 4; k++)
      if (i + k * step < all) p.sum[i + k * step] = blocks[k];
  }
  sync();
  scan_values(p.sum, all, m.totals, uint32_t(0), JoinSums());
}
#endif

}  // namespace ps::device
