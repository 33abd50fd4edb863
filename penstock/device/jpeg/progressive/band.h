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

// The coefficients of a band, in registers.
struct JpegBand {
  int first, last, low;
  PS_FN explicit JpegBand(const JpegScan& s) : first(s.first), last(s.last), low(s.low) {}
  PS_FN uint64_t all() const { return ~uint64_t(0) >> (63 - last) & ~uint64_t(0) << first; }
};

// Blocks that have nothing more, this one among them.
PS_FN uint32_t take_run(JpegScanBits& bits, uint32_t exponent) { return (1u << exponent) + bits.take(exponent); }

// A symbol by the book, for what is not usual.
struct JpegSymbol {
  uint32_t run, size, window;          // window: begins with the value's bits
  bool known;                          // there is such a code
  PS_FN bool ends_blocks() const { return size == 0 && run != 15; }
};
template <class Codes> PS_FN JpegSymbol take_symbol(const Codes& codes, JpegScanBits& bits) {
  const uint32_t window = bits.window();
  const auto code = codes.find(window >> 16);
  const uint32_t size = code.symbol & 15;
  bits.skip(code.length + size);
  return {code.symbol >> 4, size, window << code.length, code.length != 0};
}

// A block of a band's first scan. `ended`: how many blocks have nothing more, with this one; 0: it goes to its last
// coefficient. False: no such code, or too many coefficients.
PS_FN bool decode_first(const JpegBand& band, const JpegScanMemory& m, JpegScanBits& bits, int16_t* values,
                        JpegFound& found, uint32_t& ended) {
  int k = band.first - 1;
  PS_LOOP while (k < band.last) {
    const uint32_t window = bits.window();
    const uint32_t entry = m.band.look_up(window), length = entry & 31;
    const uint32_t run = entry >> 9, size = entry >> 5 & 15;
    if (k + int(run) < band.last) {
      k += int(run) + 1;
      bits.skip(length);
      if (lane() == 0) values[k] = int16_t(value_of_bits(window << (length - size), size) * (1 << band.low));
      found.nonzero |= kJpegOne << k;
      continue;
    }
    if (run == m.band.kEnd) {
      bits.skip(length);
      ended = take_run(bits, size);
      return true;
    }
    const JpegSymbol s = take_symbol(m.band, bits);
    if (!s.known) return false;
    if (s.ends_blocks()) {
      ended = take_run(bits, s.run);
      return true;
    }
    if (k + int(s.run) >= band.last) return false;
    k += int(s.run) + 1;
    if (s.size == 0) continue;
    if (lane() == 0) values[k] = int16_t(value_of_bits(s.window, s.size) * (1 << band.low));
    found.nonzero |= kJpegOne << k;
  }
  return true;
}

// For each coefficient that is not zero a bit says whether it goes one further; they are collected over a block, the
// first one highest.
struct JpegCorrections {
  uint64_t bits = 0;
  int count = 0;

  // From the top of a window, less than 32.
  PS_FN void add(uint32_t window, int more) {
    count += more;
    bits = bits << more | window >> 1 >> (31 - more);
  }
  PS_FN void take(JpegScanBits& from, int more) {
    while (more > 0) {
      const int some = min(more, 31);
      add(from.window(), some);
      from.skip(uint32_t(some));
      more -= some;
    }
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

// Of a block that is refined, what lanes share.
PS_FN void list_zeros(JpegScanMemory& m, uint64_t zeros) {
  sync_lanes();                                    // the last block's are not needed any more
  PS_UNROLL for (int base = 0; base < 64; base += kLanes) {
    const int i = base + lane();
    m.signs[i] = 0;
    if (zeros >> i & 1) m.zeros[count_ones(zeros & below(i))] = uint8_t(i);
  }
  sync_lanes();
}
PS_FN void find_signs(const JpegScanMemory& m, uint64_t zeros, JpegFound& found) {
  sync_lanes();
  PS_UNROLL for (int base = 0; base < 64; base += kLanes) {
    const int i = base + lane();
    const uint32_t sign = zeros >> i & 1 ? m.signs[count_ones(zeros & below(i))] : 0;
    found.nonzero |= uint64_t(lanes_where(sign != 0)) << base;
    found.negative |= uint64_t(lanes_where(sign == 2)) << base;
  }
}

// A block of a scan that refines it: `before` are the band's coefficients that are not zero. As above.
PS_FN bool decode_later(const JpegBand& band, JpegScanMemory& m, JpegScanBits& bits, uint64_t before, JpegFound& found,
                        uint32_t& ended) {
  const uint64_t zeros = ~before & band.all();
  list_zeros(m, zeros);
  const int count = count_ones(zeros);
  const bool ends_with_zero = zeros >> band.last & 1;
  JpegCorrections corrections;
  int next = 0;                                    // the zero behind the last place that was read, by its rank
  int offset = band.first;                         // of that place from its rank: so many more are not zero
  PS_LOOP while (true) {
    // What is usual: a coefficient that is new, and few corrections on the way there. All else ends this loop, so that
    // a turn waits for two look-ups and one branch.
    uint32_t entry = 0;
    PS_LOOP while (true) {
      const uint32_t window = bits.window();
      entry = m.band.look_up(window);
      const int rank = next + int(entry >> 9), place = m.zeros[rank & 63], passed = place - rank - offset;
      const uint32_t length = entry & 31, all = length + uint32_t(passed);
      if ((rank >= count) | (all > 31)) break;
      corrections.add(window << length, passed);
      m.signs[rank] = uint8_t((window >> (32 - length) & 1) | 2);
      bits.skip(all);
      next = rank + 1, offset = place - rank;
    }
    if (next == count && ends_with_zero) break;    // at the band's end
    if (entry >> 9 == m.band.kEnd) {
      bits.skip(entry & 31);
      ended = take_run(bits, entry >> 5 & 15);
      break;
    }
    const JpegSymbol s = take_symbol(m.band, bits);
    if (!s.known || s.size > 1) return false;
    if (s.ends_blocks()) {
      ended = take_run(bits, s.run);
      break;
    }
    const int rank = next + int(s.run);
    if (rank >= count) return false;
    const int place = m.zeros[rank];
    corrections.take(bits, place - rank - offset);
    if (s.size) m.signs[rank] = uint8_t(s.window >> 31 | 2);
    next = rank + 1, offset = place - rank;
  }
  corrections.take(bits, count_ones(before) - corrections.count);
  find_signs(m, zeros, found);
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
  const JpegBand band(s);
  const bool later = s.later;
  uint32_t ended = 0;                              // blocks that have nothing more
  PS_LOOP for (uint32_t first = begin; first < end; first += kLanes) {
    const uint32_t count = min(uint32_t(kLanes), end - first);
    const uint64_t before = later ? known_before(p, s, done, first, count) : 0;
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
        const bool sound =
            later ? decode_later(band, m, bits, value_of(int(i), before), found, ended)
                  : decode_first(band, m, bits, s.first_values + uint64_t(first + i) * 64, found, ended);
        if (!sound) return false;
      }
      if (uint32_t(lane()) == i) own = found;
      i++;
      ended -= ended != 0;
    }
    if (uint32_t(lane()) < count) {
      const uint32_t block = first + uint32_t(lane());
      s.nonzero[block] = own.nonzero;
      if (later) s.value[block] = own.value, s.negative[block] = own.negative;
    }
    if (bits.beyond()) return false;
    publish(own_done, first + count);
  }
  return true;
}
#endif

}  // namespace ps::device
