// Where each subsequence of a scan begins: with the first block at its first bit or behind. That is known only when all
// before it has been decoded; but Huffman codes are self-synchronizing: a decoder that begins anywhere soon comes to
// the same states as the one that began at the start. So each group of subsequences is decoded from a guess somewhat
// before it. Where the decoder of the group before crosses the boundary in another state than that guess led to, it
// goes on through the following subsequences (overflows) until it is synchronized with their own decoders. What the
// first subsequence's decoder found is right, and leads over from one decoder to the next.
//
// None of this need be right: coefficients.h checks that the subsequences fit together.
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
  uint32_t subsequences[kJpegBoundaries];        // with which the decoder before is not synchronized
};

struct JpegResolveMemory {
  static constexpr uint32_t kSubsequences = 8192;           // looked at together
  static constexpr uint32_t kChunk = 32;                   // ... of these by a thread
  static constexpr uint8_t kReached = 128;                 // a mark in `overflow`: on the walk from the first one
  JpegTables<uint32_t> tables;
  uint8_t overflow[kSubsequences];
  uint32_t begin[kSubsequences / kChunk];                  // where a chunk's walk begins
  uint32_t end[kSubsequences / kChunk];                    // ... and where it leads to
  uint32_t wrong, totals[kJpegThreads];
};

PS_FN uint32_t synchronize_bits(const JpegPicture& p) {
  return kJpegScanThreads * p.group * p.subsequence_bits + p.guess_bits;
}
// A decoder may go on behind the last boundary's subsequence.
PS_FN uint32_t join_bits(const JpegPicture& p) { return (kJpegBoundaries + 8) * p.subsequence_bits; }

#if !PS_HOST
// A block for each kJpegScanThreads groups of subsequences.
PS_FN void jpeg_synchronize(const Launch& l) {
  PS_SHARED_MEMORY(memory);
  auto& tables = held_in<JpegSynchronizeMemory>(memory).tables;
  const JpegBlock b = jpeg_block(l);
  const JpegPicture& p = b.picture;
  const uint32_t bits = jpeg_bits(p), all = count_subsequences(p, bits), each = p.group * p.subsequence_bits;
  const uint32_t first = uint32_t(b.index) * kJpegScanThreads, groups = (all + p.group - 1) / p.group;
  if (first >= groups) return;
  const uint32_t end = min(first + kJpegScanThreads, groups);
  const JpegStretch stretch =
      load_stretch(p, reinterpret_cast<uint32_t*>(memory + sizeof(JpegSynchronizeMemory)),
                   first * each - min(p.guess_bits, first * each), min(end * each, bits),
                   jpeg_stretch(synchronize_bits(p)));
  load_tables(p, tables);
  for (uint32_t group = first + uint32_t(thread()); group < end; group += uint32_t(threads())) {
    uint32_t subsequence = group * p.group;
    const uint32_t last = min(subsequence + p.group, all), begin = subsequence * p.subsequence_bits;
    const uint32_t segment = find_segment(p, begin);
    const uint32_t guess = begin - min(p.guess_bits, begin - p.segment[segment]);
    JpegCursor c(p, stretch.words(guess, begin), guess, 0, segment);
    bool entered = false;
    pass_over(p, tables, stretch, c, begin, [&](JpegCursor& at, uint32_t& to) {
      if (entered) on_gpu(p.exit)[subsequence++] = at.state();
      else on_gpu(p.entry)[group] = at.state();
      entered = true;
      at.begin_subsequence();
      if (subsequence < last) to = subsequence_end(p, subsequence, bits);
      return subsequence < last;
    });
  }
}

// A block for each kJpegBoundaries boundaries: those at which subsequences begin.
PS_FN void jpeg_join(const Launch& l) {
  PS_SHARED_MEMORY(memory);
  auto& m = held_in<JpegJoinMemory>(memory);
  const JpegBlock b = jpeg_block(l);
  const JpegPicture& p = b.picture;
  const uint32_t bits = jpeg_bits(p), all = count_subsequences(p, bits), first = uint32_t(b.index) * kJpegBoundaries;
  if (first >= all) return;
  const uint32_t last = min(first + kJpegBoundaries, all);
  if (thread() == 0) m.count = m.next = 0;
  sync();
  for (uint32_t k = first + uint32_t(thread()); k < last; k += uint32_t(threads())) {
    if (k == 0 || k % p.group != 0 || synchronized(p.exit[k - 1], p.entry[k / p.group])) p.overflow[k] = 0;
    else m.subsequences[fetch_increment(&m.count)] = k;
  }
  sync();
  if (m.count == 0) return;
  const JpegStretch stretch =
      load_stretch(p, reinterpret_cast<uint32_t*>(memory + sizeof(JpegJoinMemory)), first * p.subsequence_bits,
                   min((last + 8) * p.subsequence_bits, bits),
                   m.count < m.kWorthwhile ? 0 : jpeg_stretch(join_bits(p)));
  load_tables(p, m.tables);
  // A thread takes the next boundary as soon as it is done with one: some take much longer than others.
  uint32_t subsequence = 0, passed = 0;
  const auto take = [&](JpegCursor& c, uint32_t& end) {
    const uint32_t i = fetch_increment(&m.next);
    if (i >= m.count) return false;
    subsequence = m.subsequences[i], passed = 0;
    const JpegState from = p.exit[subsequence - 1];
    end = subsequence_end(p, subsequence, bits);
    c = JpegCursor(p, stretch.words(from.bit, end), from);
    return true;
  };
  JpegCursor c(p, stretch.far, 0, 0, 0);
  pass_over(p, m.tables, stretch, c, 0, [&](JpegCursor& at, uint32_t& end) {
    if (end == 0) return take(at, end);
    const JpegState state = at.state();
    const uint32_t now = subsequence + passed;
    p.overflow_states[uint64_t(subsequence) * kJpegOverflow + passed++] = state;
    const bool done = now + 1 == all || synchronized(state, p.exit[now]);
    if (done || passed == kJpegOverflow) {
      p.overflow[subsequence] = uint8_t(done ? passed : kJpegOverflow + 1);
      if (!done) p.status->unresolved = 1;
      return take(at, end);
    }
    at.begin_subsequence();
    end = subsequence_end(p, now + 1, bits);
    return true;
  });
}

// Goes on from the last state that the decoder before `subsequence` came to, until it is synchronized. That takes long
// in large areas of one colour. Returns the first subsequence behind, but goes no further than to `limit`.
PS_FN uint32_t join_serially(const JpegPicture& p, const JpegTables<uint32_t>& tables, uint32_t subsequence,
                             uint32_t bits, uint32_t all, uint32_t limit) {
  const auto* words = reinterpret_cast<const uint32_t*>(p.data);
  const JpegStretch none{words, words, 0, 0};
  JpegCursor c(p, words, p.overflow_states[uint64_t(subsequence) * kJpegOverflow + kJpegOverflow - 1]);
  uint32_t now = subsequence + kJpegOverflow;
  pass_over(p, tables, none, c, subsequence_end(p, now, bits), [&](JpegCursor& at, uint32_t& end) {
    const JpegState state = at.state();
    const bool done = now + 1 == all || synchronized(state, p.exit[now]);
    p.exit[now++] = state;
    at.begin_subsequence();
    if (!done) end = subsequence_end(p, now, bits);
    return !done && now < limit;
  });
  return now;
}

// A walk over boundaries, from one valid decoder to the next: each leads to where another one is synchronized with it.
PS_FN uint32_t walk(JpegResolveMemory& m, uint32_t at, uint32_t end, uint8_t mark) {
  PS_LOOP while (at < end) {
    const uint32_t overflow = m.overflow[at];
    if (overflow) m.overflow[at] |= mark;
    at += max(overflow, 1u);
  }
  return at;
}

// Walks over `count` boundaries from `next` on and marks those that are reached. Returns where that leads to. Each
// chunk has a thread, which first assumes that the walk reaches the chunk's beginning, and repeats its walk while the
// chunk before leads elsewhere: walks soon meet.
PS_FN uint32_t walk_in_parallel(JpegResolveMemory& m, uint32_t next, uint32_t count) {
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

// By one thread, where some decoders do not synchronize for long. `left`: subsequences that it may decode.
PS_FN uint32_t walk_serially(const JpegPicture& p, JpegResolveMemory& m, uint32_t next, uint32_t first, uint32_t count,
                             uint32_t bits, uint32_t all, uint32_t& left) {
  while (next < first + count) {
    uint8_t& marked = m.overflow[next - first];
    const uint32_t overflow = marked;
    if (overflow) marked |= m.kReached;
    if (overflow <= kJpegOverflow) {
      next += max(overflow, 1u);
    } else {
      const uint32_t from = next + kJpegOverflow;
      next = join_serially(p, m.tables, next, bits, all, from + left);
      left -= next - from;
      if (left == 0) {
        p.status->broken = 1;          // the CPU is faster then
        return all;
      }
    }
  }
  return next;
}

// A block for each picture.
PS_FN void jpeg_resolve(const Launch& l) {
  PS_SHARED_MEMORY(memory);
  auto& m = held_in<JpegResolveMemory>(memory);
  const JpegPicture& p = jpeg_block(l).picture;
  const uint32_t bits = jpeg_bits(p), all = count_subsequences(p, bits);
  const bool unresolved = p.status->unresolved;
  if (unresolved) load_tables(p, m.tables);
  uint32_t left = kJpegSerialBits / p.subsequence_bits;
  uint32_t next = 0;                   // boundary at which the valid decoder is the previous subsequence's own
  for (uint32_t first = 0; first < all; first += m.kSubsequences) {
    const uint32_t count = min(m.kSubsequences, all - first);
    PS_UNROLL
    for (uint32_t k = uint32_t(thread()); k < count; k += uint32_t(threads()))
      m.overflow[k] = on_gpu(p.overflow)[first + k];
    sync();
    if (!unresolved) next = first + walk_in_parallel(m, next - first, count);
    else if (thread() == 0) next = walk_serially(p, m, next, first, count, bits, all, left);
    sync();
    for (uint32_t k = uint32_t(thread()); k < count; k += uint32_t(threads())) {
      if (!(m.overflow[k] & m.kReached)) continue;
      const uint32_t subsequence = first + k;
      const uint32_t overflow = min(uint32_t(m.overflow[k] - m.kReached), uint32_t(kJpegOverflow));
      for (uint32_t i = 0; i < overflow; i++)
        p.exit[subsequence + i] = p.overflow_states[uint64_t(subsequence) * kJpegOverflow + i];
    }
    sync();
  }
  const auto step = uint32_t(threads());
  for (uint32_t i = uint32_t(thread()); i < all; i += 4 * step) {
    uint32_t blocks[4];                // loaded together: nothing else here keeps the GPU busy
    PS_UNROLL for (uint32_t k = 0; k < 4; k++) blocks[k] = p.exit[min(i + k * step, all - 1)].blocks();
    PS_UNROLL for (uint32_t k = 0; k < 4; k++)
      if (i + k * step < all) p.sum[i + k * step] = blocks[k];
  }
  sync();
  scan_values(p.sum, all, m.totals, uint32_t(0), JoinSums());
}
#endif

}  // namespace ps::device
