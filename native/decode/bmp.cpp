// BMP, of Windows and OS/2: 1 to 32 bits, palettes, bit fields, run lengths; from top to bottom and the other way.
#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/byte_order.h"
#include "core/error.h"
#include "decode/channels.h"

namespace ps {
namespace {

using namespace std::string_view_literals;

enum Compression : uint32_t { kNone = 0, kRle8 = 1, kRle4 = 2, kBitFields = 3, kAlphaBitFields = 6 };
constexpr size_t kFileHeader = 14, kOs2Header = 12, kWindowsHeader = 40, kLargestHeader = 256;

using Pixel = std::array<uint8_t, 3>;            // red, green, blue

struct Header {
  int64_t width = 0, height = 0;
  bool from_top = false, has_palette = false, gray = false;
  int bits = 0;
  uint32_t compression = kNone;
  size_t pixels = 0;                             // where they begin
  uint32_t masks[4] = {};                        // of 16 and 32 bits: red, green, blue, alpha
  std::array<Pixel, 256> palette{};              // what is not in the file is black

  size_t stride() const { return (size_t(width) * size_t(bits) + 31) / 32 * 4; }
  bool run_lengths() const { return compression == kRle8 || compression == kRle4; }
  int channels() const { return has_palette ? (gray ? 1 : 3) : bits == 32 ? 4 : 3; }
};

bool sniff(const uint8_t* data, size_t size) { return size >= 18 && data[0] == 'B' && data[1] == 'M'; }

[[noreturn]] void broken(const std::string& why) { fail(ErrorKind::decode, "broken BMP: " + why); }

void read_masks(const uint8_t* data, size_t size, size_t header, Header& h) {
  if (h.compression == kBitFields || h.compression == kAlphaBitFields) {
    // They stand behind the first 40 bytes, be that inside a longer header or behind it.
    const size_t at = kFileHeader + kWindowsHeader;
    const int count = header >= 56 || h.compression == kAlphaBitFields ? 4 : 3;
    if (size < at + size_t(count) * 4) broken("it ends within its bit masks");
    for (int i = 0; i < count; i++) h.masks[i] = le32(data + at + size_t(i) * 4);
  } else if (h.bits == 16) {
    h.masks[0] = 0x7C00, h.masks[1] = 0x3E0, h.masks[2] = 0x1F;
  } else {
    h.masks[0] = 0xFF0000, h.masks[1] = 0xFF00, h.masks[2] = 0xFF, h.masks[3] = 0xFF000000;
  }
}

void read_palette(const uint8_t* data, size_t size, size_t at, size_t entry, size_t used, Header& h) {
  const size_t most = size_t(1) << h.bits;
  const size_t until = std::min(size, std::max(h.pixels, at));     // a short palette ends where the pixels begin
  const size_t there = std::min(used == 0 || used > most ? most : used, until > at ? (until - at) / entry : 0);
  h.has_palette = h.gray = true;
  for (size_t i = 0; i < there; i++) {
    const uint8_t* p = data + at + i * entry;
    h.palette[i] = {p[2], p[1], p[0]};
    h.gray = h.gray && p[0] == p[1] && p[1] == p[2];
  }
}

Header parse(const uint8_t* data, size_t size) {
  Header h;
  const size_t header = le32(data + kFileHeader);
  if ((header != kOs2Header && header < kWindowsHeader) || header > kLargestHeader)
    broken("its header would have " + std::to_string(header) + " bytes");
  if (size < kFileHeader + header) broken("it ends within its header");
  h.pixels = le32(data + 10);
  size_t used = 0, entry = 4;
  if (header == kOs2Header) {
    h.width = le16(data + 18);
    h.height = le16(data + 20);
    h.bits = int(le16(data + 24));
    entry = 3;
  } else {
    h.width = int32_t(le32(data + 18));
    h.height = int32_t(le32(data + 22));
    h.bits = int(le16(data + 28));
    h.compression = le32(data + 30);
    used = le32(data + 46);
    h.from_top = h.height < 0;
    if (h.from_top) h.height = -h.height;
  }
  const auto bits_are = [&](std::initializer_list<int> some) { return std::ranges::count(some, h.bits) > 0; };
  bool known = false;
  switch (h.compression) {
    case kNone: known = bits_are({1, 4, 8, 16, 24, 32}); break;
    case kRle8: known = h.bits == 8; break;
    case kRle4: known = h.bits == 4; break;
    case kBitFields: case kAlphaBitFields: known = bits_are({16, 32}); break;
  }
  if (!known)
    fail(ErrorKind::decode, "BMP of " + std::to_string(h.bits) + " bits with compression " +
         std::to_string(h.compression) + " is not decoded");
  if (h.bits == 16 || h.bits == 32) read_masks(data, size, header, h);
  if (h.bits <= 8) {
    read_palette(data, size, kFileHeader + header, entry, used, h);
  }
  return h;
}

ImageInfo peek_bmp(const uint8_t* data, size_t size) {
  const Header h = parse(data, size);
  ImageInfo info;
  info.width = h.width;
  info.height = h.height;
  info.channels = h.channels();
  return info;
}

// One channel of a bit field, at full scale.
class Field {
 public:
  explicit Field(uint32_t mask) : mask_(mask), shift_(mask ? std::countr_zero(mask) : 0) {
    const int bits = 32 - std::countl_zero(mask >> shift_);
    if (bits > 8) shift_ += bits - 8;            // its 8 highest bits
    const uint32_t most = mask ? mask_ >> shift_ : 0;
    for (uint32_t v = 0; v < 256; v++) scaled_[v] = uint8_t(most ? std::min(v, most) * 255 / most : 255);
    // 5 and 6 bits as DALI has them: the high ones, and zeros.
    if (most == 31) for (uint32_t v = 0; v < 32; v++) scaled_[v] = uint8_t(v << 3);
    if (most == 63) for (uint32_t v = 0; v < 64; v++) scaled_[v] = uint8_t(v << 2);
  }
  uint8_t of(uint32_t pixel) const { return scaled_[(pixel & mask_) >> shift_ & 255]; }

 private:
  uint32_t mask_;
  int shift_;
  uint8_t scaled_[256];
};

class BmpReader : public PictureReader {
 public:
  void read(const uint8_t* data, size_t size, const ImageInfo& info, const PictureRequest& request,
            RowSink& sink) override {
    const Header h = parse(data, size);
    const Window& w = request.window;
    const int channels = h.channels();
    const bool as_stored = h.bits == 24 || standard_masks(h);
    rows_.begin(DType::u8, channels, channels == 1 ? Colours::gray : as_stored ? Colours::bgr : Colours::rgb, request,
                sink, Luma::bits14);
    if (h.run_lengths()) {
      expand(data, size, h, w);
    } else if (h.pixels > size || size - h.pixels < h.stride() * size_t(h.height - 1) + row_bytes(h)) {
      fail(ErrorKind::decode, "this BMP cannot be decoded: the file ends too early (it is truncated)");
    }
    row_.resize(size_t(w.width() * channels));
    for (int64_t y = w.y0; y < w.y1; y++) {
      const int64_t line = h.from_top ? y : info.height - 1 - y;
      if (h.run_lengths()) {
        look_up(h, expanded(line, w), w.width());
        rows_.push(y, row_.data());
        continue;
      }
      const uint8_t* from = data + h.pixels + size_t(line) * h.stride();
      if (as_stored) {
        rows_.push(y, from + w.x0 * (h.bits / 8));
      } else if (h.has_palette) {
        unpack(from, h.bits, w);
        look_up(h, index_row_.data(), w.width());
        rows_.push(y, row_.data());
      } else {
        separate(h, from, w);
        rows_.push(y, row_.data());
      }
    }
  }

 private:
  static bool standard_masks(const Header& h) {
    return h.bits == 32 && h.masks[0] == 0xFF0000 && h.masks[1] == 0xFF00 && h.masks[2] == 0xFF &&
           h.masks[3] == 0xFF000000;
  }
  static size_t row_bytes(const Header& h) { return (size_t(h.width) * size_t(h.bits) + 7) / 8; }

  void unpack(const uint8_t* from, int bits, const Window& w) {
    index_row_.resize(size_t(w.width()));
    for (int64_t x = w.x0; x < w.x1; x++) {
      const int64_t bit = x * bits;
      index_row_[size_t(x - w.x0)] = uint8_t(from[bit >> 3] >> (8 - bits - int(bit & 7)) & ((1 << bits) - 1));
    }
  }

  void look_up(const Header& h, const uint8_t* indices, int64_t width) {
    uint8_t* to = row_.data();
    if (h.gray)
      for (int64_t x = 0; x < width; x++) to[x] = h.palette[indices[x]][0];
    else
      for (int64_t x = 0; x < width; x++, to += 3) std::memcpy(to, h.palette[indices[x]].data(), 3);
  }

  void separate(const Header& h, const uint8_t* from, const Window& w) {
    const Field fields[4] = {Field(h.masks[0]), Field(h.masks[1]), Field(h.masks[2]), Field(h.masks[3])};
    const int channels = h.channels();
    uint8_t* to = row_.data();
    for (int64_t x = w.x0; x < w.x1; x++, to += channels) {
      const uint32_t pixel = h.bits == 16 ? le16(from + 2 * x) : le32(from + 4 * x);
      for (int c = 0; c < channels; c++) to[c] = fields[c].of(pixel);
    }
  }

  // Run lengths, from the file's first line up to the last one that is wanted. Pixels that are skipped are 0: they take
  // no memory behind a line's last pixel, as a file of a few bytes may skip most of a large picture.
  void expand(const uint8_t* data, size_t size, const Header& h, const Window& w) {
    lines_.clear();
    indices_.clear();
    const int64_t lines = h.from_top ? w.y1 : h.height - w.y0;
    const bool nibbles = h.compression == kRle4;
    size_t at = h.pixels;
    int64_t x = 0, line = 0;
    // Room for so many pixels from here on: for those of them that lie within the line.
    const auto room = [&](int64_t& count) -> uint8_t* {
      const int64_t first = std::exchange(x, x + count);
      count = std::clamp(h.width - first, int64_t(0), count);
      if (count == 0) return nullptr;
      if (lines_.empty() || lines_.back().number != line) lines_.push_back({line, indices_.size()});
      const size_t begin = lines_.back().begin + size_t(first);
      indices_.resize(begin + size_t(count));
      return indices_.data() + begin;
    };
    while (line < lines) {
      if (at > size || size - at < 2)
        fail(ErrorKind::decode, "this BMP cannot be decoded: the file ends too early (it is truncated)");
      const uint8_t count = data[at], value = data[at + 1];
      at += 2;
      if (count > 0) {
        int64_t within = count;
        uint8_t* to = room(within);
        for (int64_t i = 0; i < within; i++) to[i] = !nibbles ? value : i & 1 ? value & 15 : value >> 4;
      } else if (value == 0) {                   // the line's end
        x = 0, line++;
      } else if (value == 1) {                   // the picture's
        return;
      } else if (value == 2) {                   // a step to the right and on
        if (size - at < 2) continue;
        x += data[at], line += data[at + 1];
        at += 2;
      } else {                                   // so many pixels as such, padded to 2 bytes
        const size_t bytes = nibbles ? (size_t(value) + 1) / 2 : value;
        if (size - at < bytes) { at = size; continue; }
        int64_t within = value;
        uint8_t* to = room(within);
        for (int64_t i = 0; i < within; i++) {
          const uint8_t byte = data[at + size_t(nibbles ? i / 2 : i)];
          to[i] = !nibbles ? byte : i & 1 ? byte & 15 : byte >> 4;
        }
        at += bytes + (bytes & 1);
      }
    }
  }

  // The part of a line that is wanted.
  const uint8_t* expanded(int64_t line, const Window& w) {
    index_row_.assign(size_t(w.width()), 0);
    const auto found = std::lower_bound(lines_.begin(), lines_.end(), line,
                                        [](const Line& l, int64_t number) { return l.number < number; });
    if (found == lines_.end() || found->number != line) return index_row_.data();
    const size_t end = found + 1 == lines_.end() ? indices_.size() : (found + 1)->begin;
    const size_t first = std::min(found->begin + size_t(w.x0), end), count = std::min(size_t(w.width()), end - first);
    std::copy_n(indices_.begin() + ptrdiff_t(first), count, index_row_.begin());
    return index_row_.data();
  }

  struct Line {
    int64_t number;
    size_t begin;                                // of its pixels in indices_
  };
  ChannelRows rows_;
  std::vector<uint8_t> row_, index_row_, indices_;
  std::vector<Line> lines_;                      // those that have pixels, in the file's order
};

[[maybe_unused]] const bool registered = add_codec({
    .name = "BMP",
    .patterns = "*.bmp",
    .library = "",
    .sniff = sniff,
    .peek = peek_bmp,
    .make = [] { return std::unique_ptr<PictureReader>(std::make_unique<BmpReader>()); },
    .sample =
      "BM^\000\000\000\000\000\000\000>\000\000\000(\000\000\000\010\000\000\000\010\000\000\000\001\000\001"
      "\000\000\000\000\000 \000\000\000\304\016\000\000\304\016\000\000\002\000\000\000\002\000\000\000\000"
      "\000\000\000\377\377\377\000U\000\000\000\252\000\000\000U\000\000\000U\000\000\000\244\000\000\000U\000"
      "\000\000\252\000\000\000U\000\000\000"sv,
});

}  // namespace
}  // namespace ps
