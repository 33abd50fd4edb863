// Symmetric windows over rows: the inner loops of blurs.
//
// Products and sums are separate operations in one order, so every instruction set, and a GPU, gives the same bits.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>
#include <vector>

#include "core/convert.h"
#include "ops/arguments/border.h"
#include "rows/eight.h"

namespace ps {

// One half of a window: w[0] weighs the middle, w[k] what is k places before and behind it.
using HalfWindow = std::vector<float>;

inline constexpr int kBlurBlock = 32;

namespace detail {

// Of kBlurBlock neighbours.
template <class In> void blur_block(const In* const* rows, const float* w, int radius, int64_t i, float* sum) {
#if defined(__AVX2__)
  const auto blend = [](__m256 s, __m256 weight, __m256 v) { return _mm256_add_ps(s, _mm256_mul_ps(weight, v)); };
  const In* middle = rows[radius] + i;
  __m256 weight = _mm256_set1_ps(w[0]);
  __m256 s0 = _mm256_mul_ps(weight, eight(middle)), s1 = _mm256_mul_ps(weight, eight(middle + 8));
  __m256 s2 = _mm256_mul_ps(weight, eight(middle + 16)), s3 = _mm256_mul_ps(weight, eight(middle + 24));
  for (int k = 1; k <= radius; k++) {
    const In *a = rows[radius - k] + i, *b = rows[radius + k] + i;
    weight = _mm256_set1_ps(w[k]);
    s0 = blend(s0, weight, _mm256_add_ps(eight(a), eight(b)));
    s1 = blend(s1, weight, _mm256_add_ps(eight(a + 8), eight(b + 8)));
    s2 = blend(s2, weight, _mm256_add_ps(eight(a + 16), eight(b + 16)));
    s3 = blend(s3, weight, _mm256_add_ps(eight(a + 24), eight(b + 24)));
  }
  _mm256_storeu_ps(sum, s0), _mm256_storeu_ps(sum + 8, s1);
  _mm256_storeu_ps(sum + 16, s2), _mm256_storeu_ps(sum + 24, s3);
#else
  const In* __restrict middle = rows[radius] + i;
  float s[kBlurBlock];
  for (int j = 0; j < kBlurBlock; j++) s[j] = w[0] * float(middle[j]);
  for (int k = 1; k <= radius; k++) {
    const In *__restrict a = rows[radius - k] + i, *__restrict b = rows[radius + k] + i;
    const float weight = w[k];
    for (int j = 0; j < kBlurBlock; j++) s[j] += weight * (float(a[j]) + float(b[j]));
  }
  std::memcpy(sum, s, sizeof s);
#endif
}

}  // namespace detail

// out[i] = w[0] * rows[radius][i] + the sum over k of w[k] * (rows[radius - k][i] + rows[radius + k][i]); `out` is no
// part of a row.
template <class In, class Out>
void blur_row(const In* const* rows, const float* w, int radius, Out* out, int64_t n) {
  const auto block = [&](int64_t i) {
    if constexpr (std::is_same_v<Out, float>) {
      detail::blur_block(rows, w, radius, i, out + i);
    } else {
      float sum[kBlurBlock];
      detail::blur_block(rows, w, radius, i, sum);
      convert_n(sum, out + i, kBlurBlock);
    }
  };
  int64_t i = 0;
  for (; i + kBlurBlock <= n; i += kBlurBlock) block(i);
  if (i == n) return;
  if (n >= kBlurBlock) return block(n - kBlurBlock);   // some of it once more
  for (; i < n; i++) {
    float sum = w[0] * float(rows[radius][i]);
    for (int k = 1; k <= radius; k++) sum += w[k] * (float(rows[radius - k][i]) + float(rows[radius + k][i]));
    out[i] = convert<Out>(sum);
  }
}

// Along an axis with `inner` neighbouring elements for each place on it: rows of a picture, slices of a volume. Beyond
// the ends the axis is mirrored without its last element.
template <class In, class Out>
void blur_rows(const In* in, Out* out, int64_t length, int64_t inner, const HalfWindow& w) {
  const int radius = int(w.size()) - 1;
  std::vector<const In*> rows(w.size() * 2 - 1);
  for (int64_t y = 0; y < length; y++) {
    for (int k = -radius; k <= radius; k++)
      rows[size_t(k + radius)] = in + border_index(Border::reflect_101, y + k, length) * inner;
    blur_row(rows.data(), w.data(), radius, out + y * inner, inner);
  }
}

// Pixels of a row, from left to right. It is copied between mirrored ends first; then each of the window's places is a
// row too, some pixels to the side.
class BlurColumns {
 public:
  BlurColumns(int64_t width, int64_t channels, const HalfWindow& w)
      : width_(width), channels_(channels), radius_(int(w.size()) - 1), weights_(w.data()),
        row_(size_t((width + 2 * radius_) * channels)), places_(w.size() * 2 - 1) {
    for (size_t k = 0; k < places_.size(); k++) places_[k] = row_.data() + int64_t(k) * channels;
  }
  // Where the row has to be written before run().
  float* row() { return row_.data() + radius_ * channels_; }
  template <class Out> void run(Out* out) {
    for (int64_t x = 1; x <= radius_; x++) mirror(-x), mirror(width_ - 1 + x);
    blur_row(places_.data(), weights_, radius_, out, width_ * channels_);
  }

 private:
  void mirror(int64_t x) {
    const int64_t from = border_index(Border::reflect_101, x, width_);
    std::memcpy(row() + x * channels_, row() + from * channels_, size_t(channels_) * sizeof(float));
  }

  int64_t width_, channels_;
  int radius_;
  const float* weights_;
  std::vector<float> row_;
  std::vector<const float*> places_;
};

// Both, row by row.
template <class In, class Out>
void blur_picture(const In* in, Out* out, int64_t height, int64_t width, int64_t channels, const HalfWindow& wy,
                  const HalfWindow& wx) {
  const int radius = int(wy.size()) - 1;
  const int64_t stride = width * channels;
  std::vector<const In*> rows(wy.size() * 2 - 1);
  BlurColumns columns(width, channels, wx);
  for (int64_t y = 0; y < height; y++) {
    for (int k = -radius; k <= radius; k++)
      rows[size_t(k + radius)] = in + border_index(Border::reflect_101, y + k, height) * stride;
    blur_row(rows.data(), wy.data(), radius, columns.row(), stride);
    columns.run(out + y * stride);
  }
}

}  // namespace ps
