// Decodes a scan's blocks, from any bit on.
#pragma once

#include "device/base/bits.h"
#include "device/base/lanes.h"
#include "device/jpeg/table.h"

namespace ps::device {

// A picture's, in shared memory. Entry: uint16_t of one symbol, or uint32_t of one and of all that are known.
template <class Entry> struct JpegTables {
  struct Table {
    JpegLongCodes longer;
    Entry quick[JpegTable::kQuick];
  };
  Table table[kJpegTables];
  uint32_t of_block[16];               // of an MCU: where its table for DC lies; << 16: that for AC
  PS_FN const Table& at(uint32_t place) const {
    return *reinterpret_cast<const Table*>(reinterpret_cast<const uint8_t*>(table) + place);
  }
};

// Words of a scan that a block has in shared memory, for so many bits that its threads decode.
PS_FN uint32_t jpeg_stretch(uint32_t bits) { return min((bits + kJpegBehind) / 128 * 4 + 8, kJpegStretch); }

#if !PS_HOST
// From the GPU's memory to shared memory, by all threads: what `count` times 16 bytes hold.
PS_FN void copy_here(const void* from, void* to, uint32_t count) {
  struct alignas(16) Words {
    uint32_t words[4];
  };
  constexpr uint32_t together = 4;     // are on their way at a time
  const auto step = uint32_t(threads());
  for (uint32_t i = uint32_t(thread()); i < count; i += together * step) {
    Words words[together];
    PS_UNROLL for (uint32_t k = 0; k < together; k++)
      words[k] = on_gpu(static_cast<const Words*>(from))[min(i + k * step, count - 1)];
    PS_UNROLL for (uint32_t k = 0; k < together; k++)
      if (i + k * step < count) static_cast<Words*>(to)[i + k * step] = words[k];
  }
}
template <class T> PS_FN void copy_here(const T& from, T& to) { copy_here(&from, &to, sizeof(T) / 16); }

PS_FN const uint16_t (&entries_of(const JpegTable& t, uint16_t))[JpegTable::kQuick] { return t.quick; }
PS_FN const uint32_t (&entries_of(const JpegTable& t, uint32_t))[JpegTable::kQuick] { return t.runs; }

template <class Entry> PS_FN void load_tables(const JpegPicture& p, JpegTables<Entry>& to) {
  PS_LOOP for (int i = 0; i < kJpegTables && p.table[i]; i++) {
    copy_here(p.table[i]->longer, to.table[i].longer);
    copy_here(entries_of(*p.table[i], Entry(0)), to.table[i].quick);
  }
  constexpr uint32_t size = sizeof to.table[0];
  for (int i = thread(); i < 16; i += threads()) to.of_block[i] = p.dc_table[i] * size | p.ac_table[i] * size << 16;
  sync();
}

// From the upper half of (first:second) << shift. Only the shift's lowest five bits count.
PS_FN uint32_t bits_at(uint32_t first, uint32_t second, uint32_t shift) {
#if defined(__CUDACC_RTC__)
  return __funnelshift_l(second, first, shift);
#else
  return uint32_t((uint64_t(first) << 32 | second) << (shift & 31) >> 32);
#endif
}

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

// The segment that a bit belongs to: of empty ones, the last.
PS_FN uint32_t find_segment(const JpegPicture& p, uint32_t bit) {
  uint32_t low = 0;
  for (uint32_t high = p.segments; high - low > 1;) {
    const uint32_t middle = (low + high) / 2;
    if (p.segment[middle] <= bit) low = middle;
    else high = middle;
  }
  return low;
}

// A stretch of the scan that lies in shared memory: threads that decode next to one another each wait for words of
// their own, and with them the whole warp does, nearly all the time.
struct JpegStretch {
  const uint32_t *near, *far;          // word 0 of the scan would be there
  uint32_t begin, end;                 // bits that are near

  // The words for a decoder from one bit up to another.
  PS_FN const uint32_t* words(uint32_t from, uint32_t to) const {
    return from >= begin && max(from, to) + kJpegBehind <= end ? near : far;
  }
};

PS_FN JpegStretch load_stretch(const JpegPicture& p, uint32_t* to, uint32_t begin, uint32_t end, uint32_t room) {
  const auto* far = reinterpret_cast<const uint32_t*>(p.data);
  const uint32_t first = begin / 128 * 4, count = min((end + kJpegBehind + 127) / 128 * 4 - first, room);
  copy_here(far + first, to, count / 4);
  return {reinterpret_cast<const uint32_t*>(reinterpret_cast<uint64_t>(to) - uint64_t(first) * 4), far, first * 32,
          (first + count) * 32};
}

struct JpegCursor {
  const uint32_t* words;
  uint32_t bit;
  uint32_t first, second, third;       // words: the bit's one and those behind; the third one has been asked for early
  uint32_t counts;                     // as JpegState has them, since the subsequence began
  uint32_t segment, segment_end;

  PS_FN JpegCursor(const JpegPicture& p, const uint32_t* from, uint32_t at, uint32_t in_mcu, uint32_t in_segment)
      : words(from), counts(in_mcu), segment(in_segment), segment_end(p.segment[in_segment + 1]) {
    seek(at);
  }
  PS_FN JpegCursor(const JpegPicture& p, const uint32_t* from, const JpegState& state)
      : JpegCursor(p, from, state.bit, state.block(), find_segment(p, state.bit)) {}
  PS_FN void seek(uint32_t to) {
    bit = to;
    const uint32_t* from = words + (bit >> 5);
    first = from[0], second = from[1], third = from[2];
  }
  PS_FN uint32_t window() const { return bits_at(first, second, bit); }
  PS_FN void skip(uint32_t length) {   // less than 32 bits
    const uint32_t before = bit;
    bit += length;
    const uint32_t crossed = (before ^ bit) & 32;
    first = crossed ? second : first;
    second = crossed ? third : second;
    load_if(crossed, words + (bit >> 5) + 2, third);
  }
  PS_FN uint32_t block() const { return counts & 15; }
  PS_FN void begin_subsequence() { counts &= 15; }
  // On to the next segment that is not empty.
  PS_FN void leave(const JpegPicture& p) {
    if (segment + 1 < p.segments) {
      if (p.segment[++segment + 1] == segment_end) segment = find_segment(p, segment_end);
    }
    seek(segment_end);
    segment_end = p.segment[segment + 1];
    counts &= ~15u;
  }
  PS_FN JpegState state() const { return {bit, counts}; }
};
PS_FN bool synchronized(const JpegState& a, const JpegState& b) { return a.bit == b.bit && a.block() == b.block(); }

// Passes over blocks until there is one that ends at the bit `end` or behind it. Then arrived(cursor, end) may set
// another end, or return false. Whether the blocks are valid is not checked here (coefficients.h does), but one that
// goes beyond its segment does not count.
//
// Blocks are of any length, so that lanes of a warp come to the ends of theirs at any time: only what is rare is a
// branch, and in each turn all lanes take as many symbols as one look-up finds.
template <class Arrived>
PS_FN void pass_over(const JpegPicture& p, const JpegTables<uint32_t>& t, const JpegStretch& stretch, JpegCursor& c,
                     uint32_t end, Arrived arrived) {
  constexpr int all = 64 << 9;                     // coefficients, as entries have them
  const auto blocks_in_mcu = uint32_t(p.blocks_in_mcu);
  while (c.bit >= end)
    if (!arrived(c, end)) return;
  uint32_t limit = min(end, c.segment_end), tables = t.of_block[c.block()], table = tables & 0xFFFF;
  int left = all;
  PS_LOOP for (uint32_t going = 1; going; in_one_loop(going)) {
    const uint32_t window = c.window();
    uint32_t both = t.at(table).quick[quick_place(window)];
    if (both == 0) both = find_long_code(t.at(table).longer, window) * 0x10001;
    const uint32_t run = both >> 16, entry = int(run & (63 << 9)) < left ? run : both;
    c.skip(entry & 31);
    left -= int(entry & (127 << 9));
    const bool ended = left <= 0;
    const uint32_t next = c.counts + 17, wrapped = (next & 15) == blocks_in_mcu ? next - blocks_in_mcu : next;
    c.counts = ended ? wrapped : c.counts;
    left = ended ? all : left;
    if (ended) tables = t.of_block[c.counts & 15];
    table = ended ? tables & 0xFFFF : tables >> 16;
    if (ended && c.bit >= limit) {
      if (c.bit > c.segment_end) c.counts -= 16;
      if (c.bit >= c.segment_end) c.leave(p);
      while (going && c.bit >= end) going = arrived(c, end);
      if (c.words != stretch.words(c.bit, end)) c.words = stretch.words(c.bit, end), c.seek(c.bit);
      limit = min(end, c.segment_end);
      tables = t.of_block[c.block()], table = tables & 0xFFFF;
    }
  }
}

// Of the scan as it was found, where JpegPicture::subsequences is an upper bound.
PS_FN uint32_t jpeg_bits(const JpegPicture& p) { return p.segment[p.segments]; }
PS_FN uint32_t subsequence_end(const JpegPicture& p, uint32_t subsequence, uint32_t bits) {
  return min((subsequence + 1) * p.subsequence_bits, bits);
}
PS_FN uint32_t count_subsequences(const JpegPicture& p, uint32_t bits) {
  return (bits + p.subsequence_bits - 1) / p.subsequence_bits;
}
#endif

}  // namespace ps::device
