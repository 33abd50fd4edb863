// An affine warp on the CPU as a stage of row pipelines.
#include "ops/geometry/warp/stage.h"

#include <algorithm>
#include <cstring>

namespace ps {

void WarpStage::begin(const WarpParams& p, const device::AffineMatrix<2>& matrix, const RowFormat& from,
                      const RowFormat& to) {
  in = from;
  out = to;
  const int64_t read[] = {in.width, in.height}, written[] = {out.width, out.height};
  warper_.begin(p, matrix, read, written, in.channels, in.dtype, out.dtype);
}

Window WarpStage::demand(const Window& w) {
  wanted_ = w;
  const int64_t begin[] = {w.x0, w.y0}, end[] = {w.x1, w.y1};
  warper_.needed(begin, end, lo_, hi_);
  stride_ = size_t(hi_[0] - lo_[0] + 1) * in.pixel_bytes();
  return {lo_[0], lo_[1], hi_[0] + 1, hi_[1] + 1};
}

bool WarpStage::take(const void* picture, size_t stride) {
  emit(picture, stride, size_t(hi_[1] - lo_[1]) * stride + stride_);
  return true;
}

void* WarpStage::place(int64_t y) {
  reserve(picture_, size_t(hi_[1] - lo_[1] + 1) * stride_);
  return picture_.data() + size_t(y - lo_[1]) * stride_;
}

void WarpStage::push(int64_t y, const void* row) {
  void* to = place(y);
  if (to != row) std::memcpy(to, row, stride_);
  if (y == hi_[1]) emit(picture_.data(), stride_, picture_.size());
}

void WarpStage::reserve(std::vector<uint8_t>& v, size_t bytes) {
  if (v.size() < bytes + kRowSlack) v.resize(bytes + kRowSlack);
}

void WarpStage::emit(const void* picture, size_t stride, size_t bytes) {
  warper_.set_source(picture, int64_t(stride), 0, lo_, hi_, bytes);
  const size_t row = size_t(wanted_.width()) * out.pixel_bytes() + kRowSlack;
  reserve(rows_, row * kWarpRows);
  for (int64_t y = wanted_.y0; y < wanted_.y1; y += kWarpRows) {
    const int count = int(std::min<int64_t>(kWarpRows, wanted_.y1 - y));
    uint8_t* to[kWarpRows];
    for (int r = 0; r < count; r++) {
      to[r] = next->keeps_places() ? static_cast<uint8_t*>(next->place(y + r)) : nullptr;
      if (!to[r]) to[r] = rows_.data() + row * size_t(r);
    }
    warper_.rows({0, y, count, wanted_.x0, wanted_.x1}, to);
    for (int r = 0; r < count; r++) next->push(y + r, to[r]);
  }
}

}  // namespace ps
