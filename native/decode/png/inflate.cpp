#include "decode/png/inflate.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "core/byte_order.h"
#include "core/simd.h"

namespace ps::png {
namespace {

constexpr int kLiterals = 288, kDistances = 32, kMostLiterals = 286, kMostDistances = 30;
constexpr size_t kLargestHeader = 1000;        // bytes: a block's is smaller

// Symbols of which each `step` has one extra bit more than those before; the first 2 * step have none.
constexpr uint32_t with_extra(int index, int step, int first) {
  const int extra = index < 2 * step ? 0 : index / step - 1;
  const int base = index < 2 * step ? index : (step + index % step) << extra;
  return uint32_t(first + base) << 16 | uint32_t(extra);
}

constexpr auto kLiteralSymbols = [] {
  std::array<uint32_t, kLiterals> s{};
  for (int i = 0; i < 256; i++) s[size_t(i)] = kLiteral | 1u << 24 | uint32_t(i) << 8;
  s[256] = kEnd;
  for (int i = 0; i < 28; i++) s[size_t(257 + i)] = with_extra(i, 4, 3);
  s[285] = 258u << 16;
  s[286] = s[287] = kInvalid;
  return s;
}();

constexpr auto kLengthSymbols = [] {
  std::array<uint32_t, 19> s{};
  for (uint32_t i = 0; i < 19; i++) s[i] = i << 16;
  return s;
}();

// What repeats the first `distance` bytes, and of 16 bytes of that how many are whole repetitions.
struct Repeat {
  uint8_t order[16][16], step[16];
};
constexpr Repeat kRepeat = [] {
  Repeat r{};
  for (int d = 1; d < 16; d++) {
    for (int i = 0; i < 16; i++) r.order[d][i] = uint8_t(i % d);
    r.step[d] = uint8_t(16 - 16 % d);
  }
  return r;
}();

// Writes up to 16 bytes past the end.
inline void copy_match(uint8_t* to, size_t distance, size_t length) {
  const uint8_t* from = to - distance;
  uint8_t* const end = to + length;
  const auto load = [](const uint8_t* p) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(p)); };
  const auto store = [](uint8_t* p, __m128i v) { _mm_storeu_si128(reinterpret_cast<__m128i*>(p), v); };
  if (distance >= 16) {
    store(to, load(from));
    for (to += 16, from += 16; to < end; to += 16, from += 16) store(to, load(from));
    return;
  }
  const __m128i pattern = _mm_shuffle_epi8(load(from), load(kRepeat.order[distance]));
  for (; to < end; to += kRepeat.step[distance]) store(to, pattern);
}

}  // namespace

Inflate::Inflate() : input_(kInput + kInputSlack) {}

void Inflate::start(ByteSource& source) {
  source_ = &source;
  next_ = end_ = input_.data();
  last_ = final_ = false;
  bits_ = count_ = 0;
  stage_ = Stage::header;
}

// Enough for a block's header, if there is that much.
void Inflate::fetch() {
  if (last_ || size_t(end_ - next_) >= kLargestHeader) return;
  next_ -= count_ >> 3 & 7, count_ &= 7;       // whole bytes are read again: who goes back to one finds it
  const size_t left = size_t(end_ - next_);
  std::memmove(input_.data(), next_, left);
  const size_t more = source_->read(input_.data() + left, kInput - left);
  next_ = input_.data();
  end_ = next_ + left + more;
  last_ = left + more < kInput;
  if (last_) std::memset(input_.data() + left + more, 0, kInputSlack);
}

// Whether bits were used that are not in the stream.
bool Inflate::overrun() const { return last_ && next_ - ptrdiff_t(count_ >> 3 & 7) > end_; }

// Drops what is left of a byte; the next one is at next_ then.
void Inflate::to_byte() {
  next_ -= count_ >> 3 & 7;
  bits_ = count_ = 0;
}

Inflate::Status Inflate::run(const uint8_t* history, uint8_t*& out, uint8_t* goal) {
  while (out < goal) {
    fetch();
    if (!advance(history, out, goal) || overrun()) return Status::broken;
    if (stage_ == Stage::end) return Status::end;
  }
  return Status::more;
}

bool Inflate::advance(const uint8_t* history, uint8_t*& out, uint8_t* goal) {
  switch (stage_) {
    case Stage::header: return open_stream();
    case Stage::block: return open_block();
    case Stage::stored: return copy_stored(out, goal);
    case Stage::codes: return decode(history, out, goal);
    case Stage::trailer: return close_stream();
    case Stage::end: break;
  }
  return true;
}

bool Inflate::open_stream() {
  refill();
  const uint32_t method = take(8), flags = take(8);
  if ((method & 15) != 8 || method >> 4 > 7 || flags & 0x20 || (method << 8 | flags) % 31 != 0) return false;
  const uint32_t furthest = 256u << (method >> 4);
  for (int i = 0; i < kDistances; i++) {
    const uint32_t symbol = with_extra(i, 2, 1);
    distance_symbols_[i] = i < kMostDistances && number_of(symbol) <= furthest ? symbol : uint32_t(kInvalid);
  }
  stage_ = Stage::block;
  return true;
}

bool Inflate::open_block() {
  if (final_) return stage_ = Stage::trailer, true;
  refill();
  final_ = take(1);
  const uint32_t type = take(2);
  return type == 0 ? open_stored() : type < 3 && open_codes(type == 1);
}

bool Inflate::open_stored() {
  to_byte();
  stored_ = le16(next_);
  if ((stored_ ^ le16(next_ + 2)) != 0xFFFF) return false;
  next_ += 4;
  stage_ = Stage::stored;
  return true;
}

bool Inflate::copy_stored(uint8_t*& out, const uint8_t* goal) {
  if (next_ > end_) return false;
  const size_t n = std::min({stored_, size_t(goal - out), size_t(end_ - next_)});
  if (n == 0 && stored_ > 0) return false;
  std::memcpy(out, next_, n);
  out += n, next_ += n, stored_ -= n;
  if (stored_ == 0) stage_ = Stage::block;
  return true;
}

bool Inflate::open_codes(bool fixed) {
  uint8_t lengths[kLiterals + kDistances] = {};
  int literals = kLiterals, distances = kDistances;
  if (fixed) {
    for (int i = 0; i < kLiterals; i++) lengths[i] = i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : 8;
    std::fill_n(lengths + kLiterals, kDistances, uint8_t(5));
  } else {
    literals = int(take(5)) + 257;
    distances = int(take(5)) + 1;
    if (literals > kMostLiterals || distances > kMostDistances || !read_lengths(lengths, literals, distances))
      return false;
  }
  const Huffman literal_codes{kLiteralBits, kLiteralSymbols.data(), literals_, std::size(literals_)};
  const Huffman distance_codes{kDistanceBits, distance_symbols_, distances_, std::size(distances_)};
  stage_ = Stage::codes;
  return lengths[256] > 0 && literal_codes.build(lengths, literals, !fixed) &&
         distance_codes.build(lengths + literals, distances, false);
}

bool Inflate::read_lengths(uint8_t* lengths, int literals, int distances) {
  static constexpr uint8_t kOrder[19] = {16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15};
  constexpr int kBits = 7;
  uint8_t code_lengths[19] = {};
  const int codes = int(take(4)) + 4;
  int used = 0;
  for (int i = 0; i < codes; i++) {
    refill();
    const uint32_t n = take(3);
    code_lengths[kOrder[i]] = uint8_t(n);
    used += n > 0 ? 1 << (kBits - n) : 0;
  }
  if (used != 1 << kBits) return false;        // here not even a single code may be incomplete
  uint32_t table[1 << kBits];
  if (!Huffman{kBits, kLengthSymbols.data(), table, std::size(table)}.build(code_lengths, 19, false)) return false;
  for (int i = 0; i < literals + distances;) {
    refill();
    const uint32_t entry = table[bits_ & ((1 << kBits) - 1)], symbol = number_of(entry);
    if (entry & kOdd) return false;
    take(int(entry & 63));
    if (symbol < 16) {
      lengths[i++] = uint8_t(symbol);
      continue;
    }
    if (symbol == 16 && i == 0) return false;
    const uint8_t again = symbol == 16 ? lengths[i - 1] : 0;
    const int times = int(symbol == 16 ? 3 + take(2) : symbol == 17 ? 3 + take(3) : 11 + take(7));
    if (i + times > literals + distances) return false;
    std::fill_n(lengths + i, times, again);
    i += times;
  }
  return true;
}

bool Inflate::close_stream() {
  to_byte();
  adler_ = be32(next_);
  next_ += 4;
  stage_ = Stage::end;
  return next_ <= end_;
}

// Literals and matches until the goal is reached, or the input is nearly used up, or the block is at its end.
bool Inflate::decode(const uint8_t* history, uint8_t*& out_now, const uint8_t* goal) {
  constexpr uint64_t kLiteralMask = (1 << kLiteralBits) - 1, kDistanceMask = (1 << kDistanceBits) - 1;
  const uint8_t *next = next_, *const most = last_ ? end_ + 8 : end_ - 32;
  uint64_t bits = bits_, count = count_;
  uint8_t* out = out_now;
  bool fine = true;
  const auto fill = [&] {              // at least 56 bits are valid then
    uint64_t bytes;
    std::memcpy(&bytes, next, 8);
    bits |= bytes << (count & 63);
    next += 7 - (count >> 3 & 7);
    count = 56 + (count & 7);
  };
  const auto consume = [&](uint32_t entry) {
    bits >>= entry & 63;
    count -= entry;                    // its upper bits mean nothing
  };
  const auto put = [&](uint32_t entry) {
    const uint16_t two = uint16_t(entry >> 8);
    std::memcpy(out, &two, 2);
    out += entry >> 24 & 3;
    consume(entry);
  };
  while (out < goal && next < most) {
    fill();
    uint32_t entry = literals_[bits & kLiteralMask];
    if (entry & kLiteral) {
      // Four times 11 bits, of 56.
      put(entry);
      entry = literals_[bits & kLiteralMask];
      if (entry & kLiteral) {
        put(entry);
        entry = literals_[bits & kLiteralMask];
        if (entry & kLiteral) {
          put(entry);
          entry = literals_[bits & kLiteralMask];
          if (entry & kLiteral) {
            put(entry);
            continue;
          }
        }
      }
      fill();
    }
    // A length and a distance have 48 bits at most.
    if (entry & kOdd) {
      if (entry & kSecond) {
        bits >>= kLiteralBits, count -= kLiteralBits;
        entry = literals_[number_of(entry) + (bits & ((1u << code_bits(entry)) - 1))];
        if (entry & kLiteral) {
          put(entry);
          continue;
        }
      }
      if (entry & kEnd) {
        consume(entry);
        stage_ = Stage::block;
        break;
      }
      if (entry & kInvalid) {
        fine = false;
        break;
      }
    }
    const size_t length = value_of(entry, bits);
    consume(entry);
    entry = distances_[bits & kDistanceMask];
    if (entry & kOdd) {
      if (entry & kSecond) {
        bits >>= kDistanceBits, count -= kDistanceBits;
        entry = distances_[number_of(entry) + (bits & ((1u << code_bits(entry)) - 1))];
      }
      if (entry & kInvalid) {
        fine = false;
        break;
      }
    }
    const size_t distance = value_of(entry, bits);
    consume(entry);
    if (distance > size_t(out - history)) {
      fine = false;
      break;
    }
    copy_match(out, distance, length);
    out += length;
  }
  next_ = next, bits_ = bits, count_ = count & 63, out_now = out;
  return fine;
}

}  // namespace ps::png
