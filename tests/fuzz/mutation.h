// Broken files out of sound ones: bits, bytes, blocks, header fields, files cut, grown and joined.
#pragma once

#include <algorithm>
#include <random>

#include <zlib.h>

#include "fields.h"

namespace fuzz {

class Mutator {
 public:
  explicit Mutator(uint64_t seed) : random_(seed) {}

  uint32_t below(uint64_t n) { return uint32_t(random_() % n); }
  bool chance(uint32_t percent) { return below(100) < percent; }

  // `other` is a sound file, too, of any format.
  Bytes mutate(const Bytes& file, const Bytes& other) {
    Bytes f = file;
    for (uint32_t times = chance(50) ? 1 : 1 + below(4); times > 0 && !f.empty(); times--) once(f, other);
    if (chance(80)) repair_png(f);
    if (f.size() > kLargest) f.resize(kLargest);
    return f;
  }

 private:
  static constexpr size_t kLargest = 1 << 18;

  size_t place(const Bytes& f) { return below(chance(50) ? std::min<size_t>(f.size(), 256) : f.size()); }
  size_t length(const Bytes& f, size_t at) {
    return 1 + below(std::min<size_t>(f.size() - at, chance(70) ? 32 : 4096));
  }

  void once(Bytes& f, const Bytes& other) {
    const size_t at = place(f), n = length(f, at);
    const auto begin = f.begin() + long(at);
    switch (below(16)) {
      case 0: case 1:
        for (uint32_t i = 1 + below(8); i > 0; i--) f[place(f)] ^= uint8_t(1u << below(8));
        break;
      case 2: case 3:
        for (uint32_t i = 1 + below(8); i > 0; i--) f[place(f)] = byte();
        break;
      case 4: f.resize(below(f.size())); break;
      case 5: f.insert(begin, 1 + below(64), byte()); break;
      case 6: f.erase(begin, begin + long(n)); break;
      case 7: repeat(f, at, n); break;
      case 8: std::fill(begin, begin + long(n), byte()); break;
      case 9: splice(f, at, other); break;
      case 10: {
        const size_t to = below(f.size() - n + 1);
        std::swap_ranges(begin, begin + long(std::min(n, to > at ? to - at : at - to)), f.begin() + long(to));
        break;
      }
      default: set_fields(f);
    }
  }

  uint8_t byte() {
    constexpr uint8_t special[] = {0, 1, 2, 4, 8, 0x7F, 0x80, 0xFE, 0xFF};
    return chance(50) ? uint8_t(below(256)) : special[below(std::size(special))];
  }

  // A block once more, or many times over: chunks, markers and directories without end.
  void repeat(Bytes& f, size_t at, size_t n) {
    const Bytes block(f.begin() + long(at), f.begin() + long(at + n));
    Bytes more;
    for (uint32_t i = chance(80) ? 1 : 1 + below(500); i > 0; i--) more.insert(more.end(), block.begin(), block.end());
    f.insert(f.begin() + long(chance(70) ? at + n : below(f.size())), more.begin(), more.end());
  }

  void splice(Bytes& f, size_t at, const Bytes& other) {
    const size_t from = below(other.size());
    if (chance(50)) {                             // its end, from the same place on, or from another one
      f.resize(at);
      f.insert(f.end(), other.begin() + long(chance(50) ? std::min(at, other.size()) : from), other.end());
    } else {
      const size_t n = 1 + below(std::min<size_t>(other.size() - from, 2048));
      f.insert(f.begin() + long(at), other.begin() + long(from), other.begin() + long(from + n));
    }
  }

  void set_fields(Bytes& f) {
    const std::vector<Field> fields = Fields(f).all();
    if (fields.empty()) return;
    for (uint32_t i = chance(60) ? 1 : 1 + below(4); i > 0; i--) {
      const Field& field = fields[below(fields.size())];
      put(f, field, value(get(f, field), field.bytes, f.size()));
    }
  }

  uint32_t value(uint32_t old, int bytes, size_t size) {
    const uint32_t most = bytes == 4 ? 0xFFFFFFFF : (1u << 8 * bytes) - 1;
    const uint32_t choices[] = {
        0, 1, 2, 3, most, most - 1, most / 2, most / 2 + 1, old + 1, old - 1, old * 2, old / 2, 65500, uint32_t(size),
        uint32_t(size) - old, 1u << below(8 * uint32_t(bytes)), below(size), below(64), uint32_t(random_())};
    return choices[below(std::size(choices))];
  }

  // Checksums made right, or little of a broken PNG would be looked at.
  static void repair_png(Bytes& f) {
    if (f.size() < 8 || std::memcmp(f.data(), "\x89PNG", 4) != 0) return;
    for (size_t at = 8; f.size() - at >= 12;) {
      const uint32_t n = get(f, {at, 4, true});
      if (f.size() - at - 12 < n) return;
      put(f, {at + 8 + n, 4, true}, uint32_t(crc32(0, &f[at + 4], n + 4)));
      at += 12 + size_t(n);
    }
  }

  std::mt19937_64 random_;
};

}  // namespace fuzz
