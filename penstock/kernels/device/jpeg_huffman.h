// A decoder of a scan's blocks, from wherever it stands.
#pragma once

#include "kernels/device/bits.h"
#include "kernels/device/jpeg_table.h"
#include "kernels/device/lanes.h"

namespace ps::device {

// A picture's, in shared memory.
struct JpegTables {
  JpegTable table[kJpegTables];
  uint32_t of_block[16];               // of an MCU: where its table for DC lies; << 16: that for AC
  PS_FN const JpegTable& at(uint32_t place) const {
    return *reinterpret_cast<const JpegTable*>(reinterpret_cast<const uint8_t*>(table) + place);
  }
};

#if !PS_HOST
PS_FN void load_tables(const JpegPicture& p, JpegTables& to) {
  constexpr int words = sizeof(JpegTable) / 4;
  for (int i = thread(); i < words * kJpegTables; i += threads()) {
    const JpegTable* from = p.table[i / words];
    if (from) reinterpret_cast<uint32_t*>(to.table)[i] = reinterpret_cast<const uint32_t*>(on_gpu(from))[i % words];
  }
  constexpr uint32_t size = sizeof(JpegTable);
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

struct JpegCursor {
  const uint32_t* words;
  uint32_t bit;
  uint32_t first, second, third;       // words: the bit's one and those behind; the third one has been asked for early
  uint32_t block, blocks;              // of the MCU; passed since the part began
  uint32_t segment, segment_end;

  PS_FN JpegCursor(const JpegPicture& p, uint32_t at, uint32_t in_mcu, uint32_t in_segment)
      : words(reinterpret_cast<const uint32_t*>(on_gpu(p.data))), block(in_mcu), blocks(0), segment(in_segment),
        segment_end(p.segment[in_segment + 1]) {
    seek(at);
  }
  PS_FN JpegCursor(const JpegPicture& p, const JpegState& from)
      : JpegCursor(p, from.bit, from.block(), find_segment(p, from.bit)) {}
  PS_FN void seek(uint32_t to) {
    bit = to;
    const uint32_t* from = on_gpu(words) + (bit >> 5);
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
  // On to the next segment that is not empty.
  PS_FN void leave(const JpegPicture& p) {
    if (segment + 1 < p.segments) {
      if (p.segment[++segment + 1] == segment_end) segment = find_segment(p, segment_end);
    }
    seek(segment_end);
    segment_end = p.segment[segment + 1];
    block = 0;
  }
  PS_FN JpegState state() const { return {bit, blocks << 4 | block}; }
};
PS_FN bool in_step(const JpegState& a, const JpegState& b) { return a.bit == b.bit && a.block() == b.block(); }

PS_FN uint32_t find_entry(const JpegTable& table, uint32_t window) {
  const uint32_t entry = table.quick[window >> (32 - JpegTable::kBits)];
  return entry ? entry : find_long_code(table, window);
}

// Threads of a warp decode in step, which goes wrong where each has a loop of its own: blocks are of any length. So one
// that has come to the end of its block waits until some have, and they all go on together.
inline constexpr int kJpegTogether = 8;

// How many lanes have to be at an end, those that have nothing to do counted in.
PS_FN int lanes_to_await(int going) { return kLanes - max(going - kJpegTogether, 0); }

// Passes over blocks until there is one that ends at the bit `end` or behind it. Then arrived(cursor, end) may set
// another end, or return false. Whether what is found makes sense is nobody's business here; a block that goes beyond
// its segment is none. By all lanes of a warp, whether they are `going` or not, or by a thread alone.
template <bool kAlone, class Arrived>
PS_FN void pass_over(const JpegPicture& p, const JpegTables& t, JpegCursor& c, bool going, uint32_t end,
                     Arrived arrived) {
  const auto blocks_in_mcu = uint32_t(p.blocks_in_mcu);
  const auto count = [](bool own) { return kAlone ? int(own) : count_ones(ballot(own)); };
  while (going && c.bit >= end) going = arrived(c, end);
  uint32_t index = going ? 0 : 64, tables = t.of_block[c.block];
  while (const int all = count(going)) {
    const int enough = kAlone ? 1 : lanes_to_await(all);
    do {
      if (index < 64) {
        const uint32_t entry = find_entry(t.at(index ? tables >> 16 : tables & 0xFFFF), c.window());
        c.skip(entry & 31);
        index += entry >> 9;
      }
    } while (count(index >= 64) < enough);
    if (going && index >= 64) {
      if (c.bit <= c.segment_end) {
        c.blocks++;
        c.block = c.block + 1 == blocks_in_mcu ? 0 : c.block + 1;
      }
      if (c.bit >= c.segment_end) c.leave(p);
      while (going && c.bit >= end) going = arrived(c, end);
      if (going) index = 0;
      tables = t.of_block[c.block];
    }
  }
}

// The parts that a scan really has.
PS_FN uint32_t jpeg_bits(const JpegPicture& p) { return p.segment[p.segments]; }
PS_FN uint32_t part_end(const JpegPicture& p, uint32_t part, uint32_t bits) {
  return min((part + 1) * p.part_bits, bits);
}
PS_FN uint32_t count_parts(const JpegPicture& p, uint32_t bits) { return (bits + p.part_bits - 1) / p.part_bits; }
#endif

}  // namespace ps::device
