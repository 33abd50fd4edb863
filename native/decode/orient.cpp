#include "decode/orient.h"

#include <algorithm>
#include <cstring>

namespace ps {
namespace {

// Rows of the output made at a time: a column of the stored picture is a cache line per row, which all of them share.
constexpr int64_t kBand = 16;

// band[j][i] = from[j * down + i * across], N bytes each.
template <size_t N>
void gather(const uint8_t* from, ptrdiff_t down, ptrdiff_t across, int64_t rows, int64_t width, uint8_t* band,
            size_t stride) {
  for (int64_t i = 0; i < width; i++)
    for (int64_t j = 0; j < rows; j++)
      std::memcpy(band + size_t(j) * stride + size_t(i) * N, from + j * down + i * across, N);
}

void gather(size_t pixel, const uint8_t* from, ptrdiff_t down, ptrdiff_t across, int64_t rows, int64_t width,
            uint8_t* band, size_t stride) {
  switch (pixel) {
    case 1: return gather<1>(from, down, across, rows, width, band, stride);
    case 2: return gather<2>(from, down, across, rows, width, band, stride);
    case 3: return gather<3>(from, down, across, rows, width, band, stride);
    case 4: return gather<4>(from, down, across, rows, width, band, stride);
    case 6: return gather<6>(from, down, across, rows, width, band, stride);
    case 8: return gather<8>(from, down, across, rows, width, band, stride);
    default:
      for (int64_t i = 0; i < width; i++)
        for (int64_t j = 0; j < rows; j++)
          std::memcpy(band + size_t(j) * stride + size_t(i) * pixel, from + j * down + i * across, pixel);
  }
}

}  // namespace

Window Orientation::to_stored(const Window& w, int64_t width, int64_t height) const {
  Window s = swap ? Window{w.y0, w.x0, w.y1, w.x1} : w;
  if (flip_x) s = {width - s.x1, s.y0, width - s.x0, s.y1};
  if (flip_y) s = {s.x0, height - s.y1, s.x1, height - s.y0};
  return s;
}

void Orienter::begin(const Window& stored, const RowFormat& format) {
  stored_ = stored;
  pixel_ = format.pixel_bytes();
  stride_ = pixel_ * size_t(stored.width());
  const size_t bytes = stride_ * size_t(stored.height()) + kRowSlack;
  if (memory_.size() < bytes) memory_.resize(bytes);
}

void Orienter::push(int64_t y, const void* data) {
  uint8_t* to = row(y - stored_.y0);
  if (to != data) std::memcpy(to, data, stride_);
}

void Orienter::finish(const Orientation& o, const Window& upright, RowSink& sink) {
  const int64_t width = upright.width(), height = upright.height();
  const ptrdiff_t right = o.flip_x ? -ptrdiff_t(pixel_) : ptrdiff_t(pixel_);
  const ptrdiff_t below = o.flip_y ? -ptrdiff_t(stride_) : ptrdiff_t(stride_);
  const ptrdiff_t across = o.swap ? below : right, down = o.swap ? right : below;
  const uint8_t* first = row(o.flip_y ? stored_.height() - 1 : 0) + (o.flip_x ? stride_ - pixel_ : 0);
  const size_t stride = pixel_ * size_t(width);
  if (band_.size() < stride * size_t(kBand) + kRowSlack) band_.resize(stride * size_t(kBand) + kRowSlack);
  for (int64_t y = 0; y < height; y += kBand) {
    const int64_t rows = std::min(kBand, height - y);
    gather(pixel_, first + y * down, down, across, rows, width, band_.data(), stride);
    for (int64_t j = 0; j < rows; j++) sink.push(upright.y0 + y + j, band_.data() + size_t(j) * stride);
  }
}

}  // namespace ps
