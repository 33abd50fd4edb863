#include "decode/png/decoder.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "decode/png/checksum.h"
#include "decode/png/unfilter.h"

namespace ps::png {
namespace {

constexpr size_t kPiece = 65536;             // bytes that are unpacked at a time: in cache until they are read

template <class T> void ensure(std::vector<T>& memory, size_t size) {
  if (memory.size() < size) memory.resize(size);
}

}  // namespace

bool Decoder::decode(const uint8_t* data, size_t size, const PictureRequest& request, RowSink& sink) {
  const Window& w = request.window;
  if (!parse(data, size, header_) || w.x1 > header_.width || w.y1 > header_.height) return false;
  const size_t row_bytes = header_.row_bytes(header_.width);
  // Deflate makes at most 1032 bytes of one: no memory is taken for what a file cannot have.
  if ((row_bytes + 1) * size_t(header_.height) / 1032 > size) return false;
  whole_ = w.y1 == header_.height;
  wanted_ = (row_bytes + 1) * size_t(w.y1);
  data_.start(data, size, header_.data);
  start_rows(request, sink);
  const int pixel_bytes = std::max(1, header_.pixel_bits() / 8);
  const size_t bytes = header_.row_bytes(w.x1);
  for (int64_t y = 0; y < w.y1; y++) {
    const uint8_t* filtered = next_row(row_bytes + 1);
    uint8_t* row = rows_[y & 1].data();
    if (!filtered || !unfilter(filtered[0], filtered + 1, rows_[~y & 1].data(), row, bytes, pixel_bytes)) return false;
    if (y >= w.y0) channels_.push(y, pixels(row, w));
  }
  return whole_ ? ends_well() : goes_on();
}

void Decoder::start_rows(const PictureRequest& request, RowSink& sink) {
  const Window& w = request.window;
  const size_t row_bytes = header_.row_bytes(header_.width);
  for (auto& row : rows_) ensure(row, header_.row_bytes(w.x1) + kRowMargin);
  std::fill(rows_[1].begin(), rows_[1].end(), uint8_t(0));
  ensure(unpacked_, Inflate::kHistory + std::max(kPiece, row_bytes + 1) + Inflate::kSlack);
  read_ = end_ = unpacked_.data();
  adler_ = 1;
  inflate_.start(data_);
  const bool palette = header_.type == kPalette, gray = header_.type == kGray || header_.type == kGrayAlpha;
  if (palette || header_.depth != 8) ensure(pixels_, size_t(w.width()) * 8 + 8);
  // Transparency is dropped, not blended: only ANY_DATA shows an alpha channel, and only one that is stored.
  channels_.begin(header_.depth == 16 ? DType::u16 : DType::u8, palette ? 3 : header_.samples(),
                  gray ? Colours::gray : Colours::rgb, request, sink, Luma::libpng);
}

// So many bytes of what is unpacked, no more than are wanted in all; null: the stream is broken.
const uint8_t* Decoder::next_row(size_t bytes) {
  while (size_t(end_ - read_) < bytes) {
    uint8_t* const begin = unpacked_.data();
    uint8_t* const most = begin + unpacked_.size() - Inflate::kSlack;
    if (read_ + bytes > most) {
      uint8_t* const keep = std::min(read_, end_ - std::min(Inflate::kHistory, size_t(end_ - begin)));
      const ptrdiff_t shift = keep - begin;
      std::memmove(begin, keep, size_t(end_ - keep));
      read_ -= shift, end_ -= shift;
    }
    uint8_t* const from = end_;
    const size_t room = std::min(size_t(most - end_), kPiece);
    if (inflate_.run(begin, end_, end_ + std::min(wanted_, room)) != Inflate::Status::more) return nullptr;
    wanted_ -= std::min(wanted_, size_t(end_ - from));
    if (whole_) adler_ = adler32(adler_, from, size_t(end_ - from));
  }
  const uint8_t* row = read_;
  read_ += bytes;
  return row;
}

// The window's last row was read. zlib looks up to the next byte of the stream before it stops, and libpng minds what
// it finds wrong there.
bool Decoder::goes_on() {
  return (read_ < end_ || inflate_.run(unpacked_.data(), end_, end_ + 1) == Inflate::Status::more) && !data_.broken();
}

// The picture's last row was read: the stream must end there, and the file as it should.
bool Decoder::ends_well() {
  return read_ == end_ && inflate_.run(unpacked_.data(), end_, end_ + 1) == Inflate::Status::end && read_ == end_ &&
         inflate_.adler() == adler_ && inflate_.used_up() && data_.finished();
}

// The window's pixels of a row, as whole samples in the machine's byte order, a palette's colours looked up.
const uint8_t* Decoder::pixels(const uint8_t* row, const Window& w) {
  const int depth = header_.depth;
  uint8_t* const to = pixels_.data();
  if (depth == 16) {
    const auto bytes = size_t(header_.pixel_bits() / 8);
    const uint8_t* from = row + size_t(w.x0) * bytes;
    if constexpr (std::endian::native != std::endian::little) return from;
    for (size_t i = 0; i < size_t(w.width()) * bytes; i += 2) to[i] = from[i + 1], to[i + 1] = from[i];
    return to;
  }
  if (depth == 8 && header_.type != kPalette) return row + w.x0 * header_.samples();
  const int mask = (1 << depth) - 1, scale = 255 / mask;
  const auto sample = [&](int64_t x) { return row[x * depth >> 3] >> (8 - depth - int(x * depth & 7)) & mask; };
  if (header_.type == kPalette) {
    uint8_t* pixel = to;
    const auto put = [&](int index) { std::memcpy(pixel, header_.palette[index], 4), pixel += 3; };
    if (depth == 8) for (int64_t x = w.x0; x < w.x1; x++) put(row[x]);
    else for (int64_t x = w.x0; x < w.x1; x++) put(sample(x));
  } else {
    for (int64_t x = w.x0; x < w.x1; x++) to[x - w.x0] = uint8_t(sample(x) * scale);
  }
  return to;
}

}  // namespace ps::png
