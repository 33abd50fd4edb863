// Where a picture file's headers keep numbers: sizes, counts, lengths, offsets. Found by the structure of each format,
// as far as it is intact, so that a mutation there passes the first checks and reaches what trusts the number.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

namespace fuzz {

using Bytes = std::vector<uint8_t>;

struct Field {
  size_t at;
  int bytes;
  bool big;                        // most significant byte first
};

inline int shift(const Field& field, int i) { return 8 * (field.big ? field.bytes - 1 - i : i); }

inline uint32_t get(const Bytes& f, const Field& field) {
  uint32_t v = 0;
  for (int i = 0; i < field.bytes; i++) v |= uint32_t(f[field.at + size_t(i)]) << shift(field, i);
  return v;
}

inline void put(Bytes& f, const Field& field, uint32_t v) {
  for (int i = 0; i < field.bytes; i++) f[field.at + size_t(i)] = uint8_t(v >> shift(field, i));
}

// Fields of one file. What lies beyond its end is left out, so a cut-off file is no special case.
class Fields {
 public:
  explicit Fields(const Bytes& file) : f_(file) {
    using namespace std::string_view_literals;
    if (is(0, "\xFF\xD8"sv)) jpeg();
    else if (is(0, "\x89PNG"sv)) png();
    else if (is(0, "RIFF"sv)) webp();
    else if (is(0, "BM"sv)) bmp();
    else if (is(0, "II"sv) || is(0, "MM"sv)) tiff(0);
    else if (is(0, "\xFF\x4F"sv)) codestream(0);
    else if (is(4, "jP  "sv)) boxes(0, f_.size(), 0);
    else bytes(0, 24);                            // PNM: text
  }
  const std::vector<Field>& all() const { return all_; }

 private:
  bool has(size_t at, size_t n) const { return at <= f_.size() && n <= f_.size() - at; }
  bool is(size_t at, std::string_view text) const {
    return has(at, text.size()) && !std::memcmp(&f_[at], text.data(), text.size());
  }
  // Adds it, and gives its value; 0 where there is none.
  uint32_t add(size_t at, int bytes, bool big) {
    if (!has(at, size_t(bytes))) return 0;
    all_.push_back({at, bytes, big});
    return get(f_, all_.back());
  }
  void bytes(size_t at, size_t n) {
    for (size_t i = 0; i < n; i++) add(at + i, 1, true);
  }

  void jpeg() {
    for (size_t at = 2; has(at, 4) && all_.size() < kMost;) {
      if (f_[at] != 0xFF || f_[at + 1] == 0 || f_[at + 1] == 0xFF || (f_[at + 1] & 0xF8) == 0xD0) {
        at++;                                     // within a scan
        continue;
      }
      const uint8_t marker = f_[at + 1];
      add(at + 1, 1, true);
      if (marker == 0xD8 || marker == 0xD9) {
        at += 2;
        continue;
      }
      const uint32_t length = add(at + 2, 2, true);
      const bool frame = marker >= 0xC0 && marker <= 0xCF && marker != 0xC4;
      if (frame) add(at + 5, 2, true), add(at + 7, 2, true);
      if (marker == 0xE1 && is(at + 4, "Exif")) tiff(at + 10);
      else bytes(at + 4, length < 2 ? 0 : marker == 0xC4 ? 17 : length < 22 ? length - 2 : 4);
      at += 2 + length;
    }
  }

  void png() {
    add(16, 4, true), add(20, 4, true);
    bytes(24, 5);
    for (size_t at = 8; has(at, 8) && all_.size() < kMost;) {
      const uint32_t length = add(at, 4, true);
      bytes(at + 4, 4);
      if (is(at + 4, "eXIf")) tiff(at + 8);
      else if (!is(at + 4, "IHDR")) bytes(at + 8, 2);
      at += size_t(length) + 12;
    }
  }

  void webp() {
    add(4, 4, false);
    for (size_t at = 12; has(at, 8) && all_.size() < kMost;) {
      const uint32_t length = add(at + 4, 4, false);
      bytes(at, 4);
      bytes(at + 8, 16);
      at += 8 + size_t(length) + (length & 1);
    }
  }

  void bmp() {
    add(2, 4, false), add(26, 2, false), add(28, 2, false);
    for (size_t at = 10; at < 70; at += 4) add(at, 4, false);
    bytes(14, 16);
  }

  // At `base`: within a JPEG or PNG file it is EXIF.
  void tiff(size_t base) {
    if (!has(base, 8)) return;
    const bool big = f_[base] == 'M', large = f_[base + (big ? 3 : 2)] == 43;
    const int wide = large ? 8 : 4;
    size_t at = base + add(base + (large ? 8 : 4), 4, big);
    const uint32_t count = add(at, 2, big);
    at += large ? 8 : 2;
    for (uint32_t i = 0; i < count && has(at, 4) && all_.size() < kMost; i++, at += size_t(4 + 2 * wide)) {
      add(at, 2, big), add(at + 2, 2, big);
      add(at + 4, 4, big);
      add(at + 4 + size_t(wide), 4, big), add(at + 4 + size_t(wide), 2, big);
    }
    add(at, 4, big);
  }

  void boxes(size_t at, size_t end, int depth) {
    while (has(at, 8) && at < end && all_.size() < kMost) {
      const uint32_t length = add(at, 4, true);
      bytes(at + 4, 4);
      if (is(at + 4, "jp2h") && depth < 4) boxes(at + 8, at + length, depth + 1);
      else if (is(at + 4, "jp2c")) codestream(at + 8);
      else bytes(at + 8, length < 8 ? 0 : length < 40 ? length - 8 : 16);
      if (length < 8) return;
      at += length;
    }
  }

  void codestream(size_t at) {
    for (at += 2; has(at, 4) && f_[at] == 0xFF && all_.size() < kMost;) {
      const uint8_t marker = f_[at + 1];
      add(at + 1, 1, true);
      if (marker == 0x93 || marker == 0xD9) return;
      const uint32_t length = add(at + 2, 2, true);
      if (marker == 0x51)
        for (size_t i = 0; i < 8; i++) add(at + 6 + 4 * i, 4, true);
      if (marker == 0x90) add(at + 6, 4, true);
      bytes(at + 4, length < 2 ? 0 : length < 60 ? length - 2 : 16);
      if (marker == 0x90) {
        const uint32_t part = get(f_, {at + 6, 4, true});
        bytes(at + 12, 16);                       // what the tile says of itself
        if (part == 0) return;
        at += part;
      } else {
        at += 2 + length;
      }
    }
  }

  static constexpr size_t kMost = 400;
  const Bytes& f_;
  std::vector<Field> all_;
};

}  // namespace fuzz
