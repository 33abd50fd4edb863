#include "decode/jpeg2000_header.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>

#include "core/byte_order.h"
#include "core/error.h"
#include "decode/codec.h"

namespace ps::jpeg2000 {
namespace {

using namespace std::string_view_literals;
constexpr std::string_view kFileStart = "\0\0\0\x0CjP  \r\n\x87\n"sv, kStreamStart = "\xFF\x4F\xFF\x51"sv;

bool starts(const uint8_t* data, size_t size, std::string_view with) {
  return size >= with.size() && std::memcmp(data, with.data(), with.size()) == 0;
}

[[noreturn]] void truncated() { fail(ErrorKind::decode, "broken JPEG 2000: its header is missing or truncated"); }

// Calls f(the box's name, its contents, their size) for boxes one behind the other; until it returns false.
template <class F> void for_boxes(const uint8_t* data, size_t size, F f) {
  for (size_t at = 0; size - at >= 8;) {
    size_t length = be32(data + at), head = 8;
    if (length == 1) {                            // 64 bits; a file of 4 GB ends where the data does
      if (size - at < 16) return;
      length = be32(data + at + 8) ? size - at : be32(data + at + 12);
      head = 16;
    } else if (length == 0) {
      length = size - at;                         // to the end
    }
    if (length < head) return;
    length = std::min(length, size - at);
    if (length < head || !f(reinterpret_cast<const char*>(data + at + 4), data + at + head, length - head)) return;
    at += length;
  }
}

bool is(const char* box, const char* name) { return std::memcmp(box, name, 4) == 0; }

// SIZ, the first marker segment of a codestream.
ImageInfo read_siz(const uint8_t* data, size_t size) {
  if (!starts(data, size, kStreamStart) || size < 42) truncated();
  const uint8_t* p = data + 4;
  ImageInfo info;
  info.channels = int(be16(p + 36));
  if (info.channels < 1 || size < 42 + size_t(info.channels) * 3) truncated();
  info.width = int64_t(be32(p + 4)) - be32(p + 12);
  info.height = int64_t(be32(p + 8)) - be32(p + 16);
  info.bits = 1;
  for (int c = 0; c < info.channels; c++) info.bits = std::max(info.bits, (p[38 + 3 * c] & 0x7F) + 1);
  if (p[39] != 1 || p[40] != 1) fail(ErrorKind::decode, "JPEG 2000 whose first channel is subsampled is not decoded");
  return info;
}

struct Contents {
  const uint8_t* stream = nullptr;
  size_t bytes = 0;
  int palette_channels = 0, palette_bits = 0;
};

Contents contents(const uint8_t* data, size_t size) {
  Contents c;
  if (starts(data, size, kStreamStart)) {
    c.stream = data, c.bytes = size;
    return c;
  }
  for_boxes(data, size, [&](const char* box, const uint8_t* body, size_t bytes) {
    if (is(box, "jp2h"))
      for_boxes(body, bytes, [&](const char* inner, const uint8_t* p, size_t n) {
        if (!is(inner, "pclr") || n < 4) return true;
        c.palette_channels = p[2];
        c.palette_bits = (p[3] & 0x7F) + 1;
        return false;
      });
    if (!is(box, "jp2c")) return true;
    c.stream = body, c.bytes = bytes;
    return false;
  });
  if (!c.stream) truncated();
  return c;
}

}  // namespace

bool is_file(const uint8_t* data, size_t size) { return starts(data, size, kFileStart); }
bool is_stream(const uint8_t* data, size_t size) { return starts(data, size, kStreamStart); }

ImageInfo peek(const uint8_t* data, size_t size) {
  const Contents c = contents(data, size);
  ImageInfo info = read_siz(c.stream, c.bytes);
  if (c.palette_channels > 0) info.channels = c.palette_channels, info.bits = c.palette_bits;
  if (info.bits > 16)
    fail(ErrorKind::decode, "JPEG 2000 of " + std::to_string(info.bits) + " bits is not decoded, the most is 16");
  return info;
}

void check_packets(const uint8_t* data, size_t size) {
  const Contents c = contents(data, size);
  constexpr uint8_t kCodingStyle = 0x52, kStartOfTile = 0x90;
  const uint8_t* siz = c.stream + 4;
  const auto tiles = [&](int at) {
    const int64_t step = be32(siz + at + 16), first = be32(siz + at + 24), end = be32(siz + at);
    return step > 0 && end > first ? (end - first + step - 1) / step : 1;
  };
  double packets = double(tiles(4)) * double(tiles(8)) * be16(siz + 36);
  for (size_t at = 2; c.bytes - at >= 4;) {
    const uint8_t* marker = c.stream + at;
    const size_t length = be16(marker + 2);
    if (marker[0] != 0xFF || marker[1] == kStartOfTile || c.bytes - at - 2 < length) break;
    if (marker[1] == kCodingStyle && length >= 8) packets *= double(be16(marker + 6)) * (marker[9] + 1);
    at += 2 + length;
  }
  if (packets > double(c.bytes))
    fail(ErrorKind::decode, "this JPEG 2000 cannot be decoded: the file ends too early (it is truncated)");
}

}  // namespace ps::jpeg2000
