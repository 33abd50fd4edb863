// Scans of AC coefficients: what they have of each block is a word with a bit for each coefficient, but for the values
// of a band's first scan. A warp reads codes one after the other; where lanes can share work, they do.
#pragma once

#include "device/jpeg/progressive/codes.h"

namespace ps::device {

#if !PS_HOST
inline constexpr uint64_t kJpegOne = 1;
PS_FN uint64_t below(int index) { return (kJpegOne << index) - 1; }

// Of a block, or of one for each lane.
struct JpegFound {
  uint64_t nonzero, value, negative;
};

// Blocks that have nothing more, this one among them. 0: this one goes to its last coefficient.
PS_FN uint32_t take_run(JpegScanBits& bits, uint32_t exponent) { return (1u << exponent) + bits.take(exponent); }
PS_FN bool ends_blocks(uint32_t run, uint32_t size) { return size == 0 && run != 15; }

// A block of a band's first scan. False: no such code, or too many coefficients.
PS_FN bool decode_first(const JpegScan& s, const JpegScanMemory& m, JpegScanBits& bits, int16_t* values,
                        JpegFound& found, uint32_t& ended) {
  int k = s.first - 1;
  PS_LOOP while (k < s.last) {
    const uint32_t window = bits.window(), entry = m.band.at(window);
    const uint32_t length = entry & 31, size = entry >> 5 & 15, run = entry >> 9;
    if (entry == 0) return false;
    if (ends_blocks(run, size)) {
      bits.skip(length);
      ended = take_run(bits, run);
      return true;
    }
    bits.skip(length + size);
    if ((k += int(run) + 1) > s.last) return false;
    if (size == 0) continue;
    if (lane() == 0) values[k] = int16_t(value_of_bits(window << length, size) * (1 << s.low));
    found.nonzero |= kJpegOne << k;
  }
  return true;
}

// For each coefficient that is not zero a bit says whether it goes one further; they are collected over a block, the
// first one highest.
struct JpegCorrections {
  uint64_t bits = 0;
  int count = 0;

  PS_FN void take(JpegScanBits& from, int more) {
    count += more;
    PS_LOOP for (; more > 31; more -= 31) bits = bits << 31 | from.take(31);
    bits = bits << more | from.take(uint32_t(more));
  }
  // To the places of those coefficients.
  PS_FN uint64_t placed(uint64_t coefficients) const {
    uint64_t word = 0;
    if (bits == 0) return word;
    PS_UNROLL for (int base = 0; base < 64; base += kLanes) {
      const int i = base + lane(), rank = count_ones(coefficients & below(i));
      const bool one = (coefficients >> i & 1) && (bits >> (count - 1 - rank) & 1);
      word |= uint64_t(lanes_where(one)) << base;
    }
    return word;
  }
};

// A block of a scan that refines it: `before` are the band's coefficients that are not zero. As above.
PS_FN bool decode_later(const JpegScan& s, JpegScanMemory& m, JpegScanBits& bits, uint64_t before, JpegFound& found,
                        uint32_t& ended) {
  const uint64_t zeros = ~before & s.band();
  sync_lanes();                                    // the last block's zeros are not needed any more
  PS_UNROLL for (int base = 0; base < 64; base += kLanes) {
    const int i = base + lane();
    if (zeros >> i & 1) m.zeros[count_ones(zeros & below(i))] = uint8_t(i);
  }
  sync_lanes();
  const int count = count_ones(zeros), all = count_ones(before);
  JpegCorrections corrections;
  int next = 0, k = s.first;                       // the next zero; the coefficient behind the last one
  PS_LOOP while (k <= s.last) {
    const uint32_t window = bits.window(), entry = m.band.at(window);
    const uint32_t length = entry & 31, size = entry >> 5 & 15, run = entry >> 9;
    if (entry == 0 || size > 1) return false;
    bits.skip(length + size);
    if (ends_blocks(run, size)) {
      ended = take_run(bits, run);
      break;
    }
    next += int(run);
    if (next >= count) return false;
    const int to = m.zeros[next++];                // so many before it are not zero:
    corrections.take(bits, to - s.first - (next - 1) - corrections.count);
    k = to + 1;
    if (size == 0) continue;
    found.nonzero |= kJpegOne << to;
    if (!(window << length >> 31)) found.negative |= kJpegOne << to;
  }
  corrections.take(bits, all - corrections.count);
  found.value = found.nonzero | corrections.placed(before);
  found.nonzero |= before;
  return true;
}

// What is known of the block of each lane before a scan: what the scans that it refines have found.
PS_FN uint64_t known_before(const JpegPicture& p, const JpegScan& s, uint32_t* done, uint32_t first, uint32_t count) {
  uint64_t known = 0;
  PS_LOOP for (int i = 0; i < s.previous_count; i++) {
    await(done + s.previous[i], first + count);
    if (uint32_t(lane()) < count) known |= p.scans[s.previous[i]].nonzero[first + uint32_t(lane())];
  }
  return known & s.band();
}

// Blocks `begin` to `end`, which begin a segment. `done`: of each scan, how many of its blocks are known. False: the
// data contradicts itself.
PS_FN bool decode_band(const JpegPicture& p, const JpegScan& s, JpegScanMemory& m, JpegScanBits& bits, uint32_t begin,
                       uint32_t end, uint32_t* done, uint32_t* own_done) {
  uint32_t ended = 0;                              // blocks that have nothing more
  PS_LOOP for (uint32_t first = begin; first < end; first += kLanes) {
    const uint32_t count = min(uint32_t(kLanes), end - first);
    const uint64_t before = s.later ? known_before(p, s, done, first, count) : 0;
    const uint32_t with = lanes_where(before != 0);
    JpegFound own{before, 0, 0};                   // of this lane's block
    PS_LOOP for (uint32_t i = 0; i < count;) {
      JpegFound found{0, 0, 0};
      if (ended) {
        const uint32_t rest = min(ended, count - i), those = with >> i & uint32_t(below(int(rest)));
        if (those == 0) {
          i += rest, ended -= rest;
          continue;
        }
        const auto skipped = uint32_t(lowest_one(those));
        i += skipped, ended -= skipped;
        bits.prepare(kJpegUnitBits);
        const uint64_t nonzero = value_of(int(i), before);
        JpegCorrections corrections;
        corrections.take(bits, count_ones(nonzero));
        found.nonzero = nonzero, found.value = corrections.placed(nonzero);
      } else {
        bits.prepare(kJpegUnitBits);
        const bool sound = s.later ? decode_later(s, m, bits, value_of(int(i), before), found, ended)
                                   : decode_first(s, m, bits, s.first_values + uint64_t(first + i) * 64, found, ended);
        if (!sound) return false;
      }
      if (uint32_t(lane()) == i) own = found;
      i++;
      ended -= ended != 0;
    }
    if (uint32_t(lane()) < count) {
      const uint32_t block = first + uint32_t(lane());
      s.nonzero[block] = own.nonzero;
      if (s.later) s.value[block] = own.value, s.negative[block] = own.negative;
    }
    if (bits.beyond()) return false;
    publish(own_done, first + count);
  }
  return true;
}
#endif

}  // namespace ps::device
