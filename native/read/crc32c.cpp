// By the processor's instruction where the compiler has it for the lowest level, else by a table.
#include "read/crc32c.h"

#include <array>
#include <cstring>

namespace ps {
namespace {

#if defined(__CRC32__)

inline uint64_t step(uint64_t crc, uint64_t word) { return __builtin_ia32_crc32di(crc, word); }
inline uint32_t step(uint32_t crc, uint8_t byte) { return __builtin_ia32_crc32qi(crc, byte); }

// The instruction takes three cycles and may begin in each, so three stretches go side by side. What comes before a
// stretch is moved over its zeros by a product in GF(2), of which four tables have all that bytes give.
constexpr size_t kStretch = 1024;

// The CRC of this one followed by so many zero bytes.
uint32_t with_zeros(uint32_t crc, size_t bytes) {
  for (; bytes; bytes--) crc = step(crc, uint8_t(0));
  return crc;
}

using Moves = std::array<std::array<uint32_t, 256>, 4>;

Moves moves_over(size_t zeros) {
  Moves found{};
  for (uint32_t place = 0; place < 4; place++)
    for (uint32_t byte = 0; byte < 256; byte++) found[place][byte] = with_zeros(byte << 8 * place, zeros);
  return found;
}

inline uint32_t moved(const Moves& moves, uint32_t crc) {
  return moves[0][crc & 255] ^ moves[1][crc >> 8 & 255] ^ moves[2][crc >> 16 & 255] ^ moves[3][crc >> 24];
}

inline uint64_t word_at(const uint8_t* p) {
  uint64_t word;
  std::memcpy(&word, p, sizeof word);
  return word;
}

// Goes on from `crc`, which is ~0 at the beginning, and the complement of what counts at the end.
uint32_t crc32c(uint32_t crc, const uint8_t* data, size_t bytes) {
  static const Moves one = moves_over(kStretch);
  for (; bytes >= 3 * kStretch; bytes -= 3 * kStretch, data += 3 * kStretch) {
    uint64_t a = crc, b = 0, c = 0;
    for (size_t i = 0; i < kStretch; i += 8) {
      a = step(a, word_at(data + i));
      b = step(b, word_at(data + kStretch + i));
      c = step(c, word_at(data + 2 * kStretch + i));
    }
    crc = moved(one, moved(one, uint32_t(a)) ^ uint32_t(b)) ^ uint32_t(c);
  }
  uint64_t wide = crc;
  for (; bytes >= 8; bytes -= 8, data += 8) wide = step(wide, word_at(data));
  crc = uint32_t(wide);
  for (; bytes; bytes--) crc = step(crc, *data++);
  return crc;
}

#else

using Rests = std::array<uint32_t, 256>;

Rests make_rests() {
  Rests found{};
  for (uint32_t i = 0; i < 256; i++) {
    uint32_t crc = i;
    for (int bit = 0; bit < 8; bit++) crc = crc & 1 ? crc >> 1 ^ 0x82f63b78u : crc >> 1;
    found[i] = crc;
  }
  return found;
}

uint32_t crc32c(uint32_t crc, const uint8_t* data, size_t bytes) {
  static const Rests rests = make_rests();
  for (; bytes; bytes--) crc = rests[(crc ^ *data++) & 255] ^ crc >> 8;
  return crc;
}

#endif

}  // namespace

void Crc32c::add(const uint8_t* data, size_t bytes) { state_ = crc32c(state_, data, bytes); }

uint32_t Crc32c::masked() const {
  const uint32_t crc = ~state_;
  return (crc >> 15 | crc << 17) + 0xa282ead8u;
}

uint32_t masked_crc32c(const uint8_t* data, size_t bytes) {
  Crc32c crc;
  crc.add(data, bytes);
  return crc.masked();
}

}  // namespace ps
