// What a scan of a progressive file adds to one 8x8 block. Coefficients have the file's order here; of each block a
// word says which of them are not zero, so that runs of zeros and corrections are found without looking at them.
#pragma once

#include <bit>
#include <cstdint>

#include "decode/jpeg/bits.h"
#include "decode/jpeg/huffman.h"
#include "decode/jpeg/idct.h"

namespace ps::jpeg {

// The coefficients `first` to `last` of a component, from bit `low` on.
struct Band {
  const ScanTable* table;
  int first, last, low;

  uint64_t all() const { return ~uint64_t(0) >> (63 - last) & ~uint64_t(0) << first; }
};

// What ScanTable has no entry for, as an entry would say it. By value, so that callers keep theirs in registers.
struct Long {
  Bits bits;
  int value, advance;
  bool known;                  // false: there is no such code
};

[[gnu::noinline, gnu::cold]] inline Long read_long(Bits bits, const CodeTable& codes) {
  const CodeTable::Code code = codes.find(bits.window);
  if (code.length() == 0) return {bits, 0, 0, false};
  const int run = code.symbol() >> 4, size = code.symbol() & 15;
  const int value = size ? signed_value(bits.window << code.length(), 64 - size) : run == 15 ? 0 : run;
  bits.consume(code.entry);
  return {bits, value, size || run == 15 ? run + 1 : 0, true};
}

// So many blocks have nothing more: this one, and those after it. `exponent`: of the symbol; its bits come next.
inline uint32_t read_run(Bits& bits, int exponent) {
  const uint32_t more = exponent ? uint32_t(bits.peek(exponent)) : 0;
  bits.consume(uint64_t(exponent));
  return (1u << exponent) + more;
}

// Reads what the first scan of a band has of a block. `ended`: how many blocks have ended, with this one; 0: it went to
// its last coefficient. False: no such code.
inline bool decode_first(Bits& bits, const Band& band, int16_t* block, uint64_t& nonzero, uint32_t& ended) {
  uint64_t found = 0;
  int k = band.first - 1;
  const auto put = [&](int value) {
    block[kPlace[size_t(k)]] = int16_t(value * (1 << band.low));
    found |= uint64_t(value != 0) << k;
  };
  while (k < band.last) {
    bits.refill();
    const ScanTable::Entry* entry = nullptr;
    for (int i = 0; i < 56 / ScanTable::kBits && k < band.last; i++) {
      entry = &band.table->entries[bits.peek(ScanTable::kBits)];
      if (entry->advance == 0) break;
      if ((k += entry->advance) > band.last) return false;
      put(entry->value);
      bits.consume(entry->length);
    }
    if (entry->advance) continue;
    bits.refill();
    int value = entry->value, advance = 0;
    if (entry->length) {
      bits.consume(entry->length);
    } else {
      const Long symbol = read_long(bits, band.table->codes);
      if (!symbol.known) return false;
      bits = symbol.bits, value = symbol.value, advance = symbol.advance;
    }
    if (advance == 0) {
      ended = read_run(bits, value);
      break;
    }
    if ((k += advance) > band.last) return false;
    put(value);
  }
  nonzero |= found;
  return true;
}

// Bits that say of each coefficient of a block that is not zero, in their order, whether it is one further from zero.
// They are collected over a block, since a loop for each few of them would end where no processor foresees it.
struct Corrections {
  uint64_t bits = 0;                   // the last `count`, the first one highest
  int count = 0;

  // 24 bits must be valid.
  void take(Bits& from, int n) {
    if (n > 24) from.refill();
    if (n > 48) {
      bits = bits << 48 | from.peek(48), from.consume(48);
      from.refill();
      n -= 48, count += 48;
    }
    bits = bits << n | from.window >> 1 >> (63 - n);
    from.consume(uint64_t(n));
    count += n;
  }

  void apply(const Band& band, int16_t* block, uint64_t which) const {
    const int step = 1 << band.low;
    uint64_t rest = count ? bits << (64 - count) : 0;
    for (; rest; which &= which - 1, rest <<= 1) {
      int16_t& c = block[kPlace[size_t(std::countr_zero(which))]];
      const int sign = c >> 15, wanted = int(int64_t(rest) >> 63) & -int((c & step) == 0);
      c = int16_t(c + (((step ^ sign) - sign) & wanted));
    }
  }
};

// Without its lowest `count`. The few that are usual are looked up rather than counted: how many they are cannot be
// foreseen.
inline uint64_t without_lowest(uint64_t bits, int count) {
  constexpr int usual = 8;
  uint64_t without[usual];
  for (uint64_t& w : without) w = bits, bits &= bits - 1;
  if (count < usual) [[likely]] return without[count];
  for (int i = usual; i < count; i++) bits &= bits - 1;
  return bits;
}

// Reads what a later scan of a band has of a block: its next bit of what is not zero, and what becomes so. As above.
inline bool decode_later(Bits& bits, const Band& band, int16_t* block, uint64_t& nonzero, uint32_t& ended) {
  const uint64_t before = nonzero & band.all();
  uint64_t zeros = ~nonzero & band.all(), left = before, found = 0;
  Corrections corrections;
  const int step = 1 << band.low;
  while (zeros | left) {
    bits.refill();
    const ScanTable::Entry& quick = band.table->entries[bits.peek(ScanTable::kBits)];
    int value = quick.value, advance = quick.advance;
    if (quick.length) {
      bits.consume(quick.length);
    } else {
      const Long symbol = read_long(bits, band.table->codes);
      if (!symbol.known) return false;
      bits = symbol.bits, value = symbol.value, advance = symbol.advance;
    }
    if (advance == 0) {
      ended = read_run(bits, value);
      break;
    }
    if (value < -1 || value > 1) return false;
    zeros = without_lowest(zeros, advance - 1);
    if (!zeros) return false;
    const uint64_t to = zeros & -zeros, passed = left & (to - 1);
    corrections.take(bits, std::popcount(passed));
    block[kPlace[size_t(std::countr_zero(to))]] = int16_t(value * step);
    if (value) found |= to;
    zeros ^= to;
    left ^= passed;
  }
  if (ended) bits.refill();
  corrections.take(bits, std::popcount(left));
  corrections.apply(band, block, before);
  nonzero |= found;
  return true;
}

// What a later scan has of a block that has ended.
inline void correct(Bits& bits, const Band& band, int16_t* block, uint64_t which) {
  Corrections corrections;
  bits.refill();
  corrections.take(bits, std::popcount(which));
  corrections.apply(band, block, which);
}

}  // namespace ps::jpeg
