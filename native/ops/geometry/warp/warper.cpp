// One affine warp on the CPU: what it reads.
#include "ops/geometry/warp/warper.h"

#include <algorithm>
#include <cmath>

#include "core/converter.h"

namespace ps {

void write_fill(const WarpParams& p, DType from, DType to, void* element) {
  double rounded;
  converter(DType::f64, to)(&p.fill, &rounded, 1);
  converter(to, p.nearest ? to : from)(&rounded, element, 1);
}

template <int D>
void Warper<D>::begin(const WarpParams& p, const Fields& matrix, const int64_t* in, const int64_t* out, int channels,
                      DType from, DType to) {
  matrix_ = matrix;
  channels_ = channels;
  to_ = to;
  source_ = {};
  for (int d = 0; d < D; d++) {
    source_.size[d] = int32_t(in[d]);
    out_[d] = out[d];
  }
  source_.channels = channels;
  source_.clamp = p.clamp;
  const DType fill = p.nearest ? to : from;
  fill_.assign(size_t(channels) * size_of(fill) + 16, 0);
  for (int c = 0; c < channels; c++) write_fill(p, from, to, fill_.data() + size_t(c) * size_of(fill));
  source_.fill = fill_.data();
  pixel_ = int64_t(size_of(from)) * channels;
  rows_ = p.nearest ? warp_rows<D, true>(from, to, channels) : warp_rows<D, false>(from, to, channels);
}

template <int D>
void Warper<D>::needed(const int64_t* x, const int64_t* end, int32_t* lo, int32_t* hi) const {
  for (int d = 0; d < D; d++) {
    double low = matrix_.at(d, D), high = low, large = std::fabs(low);
    for (int k = 0; k < D; k++) {
      const double a = double(matrix_.at(d, k)) * double(x[k]), b = double(matrix_.at(d, k)) * double(end[k]);
      low += std::min(a, b);
      high += std::max(a, b);
      large += std::max(std::fabs(a), std::fabs(b));
    }
    const double margin = 2 + 1e-4 * large;               // for neighbours, and for roundings
    const auto within = [&](double v) {
      const double last = source_.size[d] - 1;
      return int32_t(v > 0 ? v < last ? v : last : 0);    // not-a-number too
    };
    lo[d] = within(std::floor(low - margin));
    hi[d] = within(std::ceil(high + margin));
  }
}

template <int D>
void Warper<D>::set_source(const void* data, int64_t row, int64_t plane, const int32_t* lo, const int32_t* hi,
                           size_t bytes) {
  source_.data = static_cast<const uint8_t*>(data);
  source_.pixel = pixel_;
  source_.row = row;
  source_.plane = plane;
  source_.bytes = bytes;
  std::copy(lo, lo + D, source_.lo);
  std::copy(hi, hi + D, source_.hi);
}

template <int D> void Warper<D>::run(void* to) const {
  const size_t bytes = size_of(to_) * size_t(channels_) * size_t(out_[0]);
  auto* at = static_cast<uint8_t*>(to);
  for (int64_t z = 0; z < (D == 3 ? out_[D - 1] : 1); z++)
    for (int64_t y = 0; y < out_[1]; y += kWarpRows) {
      const int count = int(std::min<int64_t>(kWarpRows, out_[1] - y));
      uint8_t* rows_to[kWarpRows];
      for (int r = 0; r < count; r++, at += bytes) rows_to[r] = at;
      rows({z, y, count, 0, out_[0]}, rows_to);
    }
}

template class Warper<2>;
template class Warper<3>;

}  // namespace ps
