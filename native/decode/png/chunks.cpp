#include "decode/png/chunks.h"

#include <algorithm>
#include <cstring>

#include "core/byte_order.h"
#include "decode/png/checksum.h"

namespace ps::png {
namespace {

constexpr size_t kSignature = 8, kIhdr = 13, kAround = 12;       // bytes; of a chunk besides what is in it
constexpr size_t kLargest = 1 << 20;     // of other chunks than IDAT: libpng has limits of its own

struct Chunk {
  const uint8_t* kind;
  const uint8_t* body;
  size_t length;

  bool is(const char* name) const { return std::memcmp(kind, name, 4) == 0; }
  bool sound() const { return crc32(0, kind, 4 + length) == be32(body + length); }
  // Of those that are not known here; libpng passes over them, and does not mind their checksums.
  bool may_be_ignored() const {
    const auto letter = [](uint8_t c) { return (c | 0x20) >= 'a' && (c | 0x20) <= 'z'; };
    return std::all_of(kind, kind + 4, letter) && kind[0] & 0x20 && length <= kLargest;
  }
};

// False: there is no whole chunk.
bool chunk_at(const uint8_t* data, size_t size, size_t at, Chunk& chunk) {
  if (at > size || size - at < kAround) return false;
  chunk = {data + at + 4, data + at + 8, be32(data + at)};
  return chunk.length <= std::min<size_t>(size - at - kAround, INT32_MAX);
}

bool has_depth(uint8_t type, uint8_t depth) {
  switch (type) {
    case kGray: return depth == 1 || depth == 2 || depth == 4 || depth == 8 || depth == 16;
    case kPalette: return depth == 1 || depth == 2 || depth == 4 || depth == 8;
    case kRgb: case kGrayAlpha: case kRgba: return depth == 8 || depth == 16;
    default: return false;
  }
}

bool read_palette(const Chunk& chunk, Header& h) {
  const size_t most = h.type == kPalette ? size_t(1) << h.depth : 256;
  if (chunk.length == 0 || chunk.length % 3 != 0 || chunk.length > 3 * most || !chunk.sound()) return false;
  std::memset(h.palette, 0, sizeof h.palette);
  for (size_t i = 0; i < chunk.length; i++) h.palette[i / 3][i % 3] = chunk.body[i];
  return true;
}

}  // namespace

bool parse(const uint8_t* data, size_t size, Header& h) {
  constexpr int64_t kWidest = 1 << 24;
  Chunk chunk;
  if (!chunk_at(data, size, kSignature, chunk) || !chunk.is("IHDR") || chunk.length != kIhdr || !chunk.sound())
    return false;
  const uint8_t* b = chunk.body;
  h.width = be32(b);
  h.height = be32(b + 4);
  h.depth = b[8];
  h.type = b[9];
  const bool plain = b[10] == 0 && b[11] == 0 && b[12] == 0;        // deflate, the usual filters, not interlaced
  if (!plain || !has_depth(h.type, h.depth) || h.width > kWidest || h.height > INT32_MAX) return false;
  bool palette = false;
  for (size_t at = kSignature + kAround + kIhdr; chunk_at(data, size, at, chunk); at += kAround + chunk.length) {
    if (chunk.is("IDAT")) {
      h.data = at;
      return palette || h.type != kPalette;
    }
    if (chunk.is("PLTE") && !palette && (h.type & 2)) palette = read_palette(chunk, h);
    else if (!chunk.may_be_ignored()) return false;
    if (chunk.is("PLTE") && !palette) return false;
  }
  return false;
}

void ImageData::start(const uint8_t* data, size_t size, size_t first) {
  data_ = data, size_ = size, at_ = first, left_ = 0;
  broken_ = false;
  done_ = !open();
}

// False: the chunk here is another one.
bool ImageData::open() {
  Chunk chunk;
  if (!chunk_at(data_, size_, at_, chunk)) return broken_ = true, false;
  if (!chunk.is("IDAT")) return false;
  at_ += 8, left_ = chunk.length;
  crc_ = crc32(0, chunk.kind, 4);
  return true;
}

size_t ImageData::read(uint8_t* to, size_t most) {
  size_t have = 0;
  while (!done_ && !broken_ && have < most) {
    const size_t n = std::min(left_, most - have);
    std::memcpy(to + have, data_ + at_, n);
    crc_ = crc32(crc_, to + have, n);
    have += n, at_ += n, left_ -= n;
    if (left_ > 0) continue;
    if (be32(data_ + at_) != crc_) broken_ = true;
    at_ += 4;
    if (!broken_) done_ = !open();
  }
  return have;
}

bool ImageData::finished() const {
  Chunk chunk;
  if (!done_ || broken_) return false;
  for (size_t at = at_; chunk_at(data_, size_, at, chunk); at += kAround + chunk.length) {
    if (chunk.is("IEND")) return chunk.length == 0 && chunk.sound();
    if (!chunk.may_be_ignored()) return false;
  }
  return false;
}

}  // namespace ps::png
