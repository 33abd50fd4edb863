// Windows along the axes of pictures in rows, on the CPU.
#pragma once

#include <algorithm>
#include <cstring>
#include <vector>

#include "core/convert.h"
#include "device/filter/laplacian.h"

namespace ps {

using Window1 = std::vector<float>;                  // 2 * radius + 1 weights

// sum += weight * n numbers.
template <class In> void add_weighted(const In* __restrict from, float weight, float* __restrict sum, int64_t n) {
  for (int64_t i = 0; i < n; i++) sum[i] += weight * convert<float>(from[i]);
}

// A row whose ends are mirrored, for windows along it.
class MirroredRow {
 public:
  void begin(int64_t width, int64_t channels, int64_t radius) {
    width_ = width, channels_ = channels, radius_ = radius;
    row_.resize(size_t((width + 2 * radius) * channels));
    zeros_.resize(size_t(width * channels));
  }
  float* data() { return row_.data() + radius_ * channels_; }
  // Of the same length, without mirrored ends.
  float* zeros() {
    std::fill(zeros_.begin(), zeros_.end(), 0.0f);
    return zeros_.data();
  }
  void mirror() {
    for (int64_t k = 1; k <= radius_; k++) {
      copy(-k, device::mirrored_101(-k, width_));
      copy(width_ - 1 + k, device::mirrored_101(width_ - 1 + k, width_));
    }
  }

 private:
  void copy(int64_t to, int64_t from) {
    std::copy_n(data() + from * channels_, channels_, data() + to * channels_);
  }
  int64_t width_ = 0, channels_ = 0, radius_ = 0;
  std::vector<float> row_, zeros_;
};

// A derivative of a picture, added to `sum`: its windows along columns (none: the picture is a row) and rows.
template <class In>
void add_derivative(const In* picture, int64_t height, int64_t width, int64_t channels, const Window1* down,
                    const Window1& along, float scale, MirroredRow& row, float* sum) {
  const int64_t n = width * channels, radius = int64_t(along.size() / 2);
  row.begin(width, channels, radius);
  for (int64_t y = 0; y < height; y++, sum += n) {
    float* columns = row.data();
    if (down) {
      std::fill_n(columns, n, 0.0f);
      const int64_t reach = int64_t(down->size() / 2);
      for (int64_t k = -reach; k <= reach; k++)
        if (const float weight = (*down)[size_t(k + reach)]; weight != 0)
          add_weighted(picture + device::mirrored_101(y + k, height) * n, weight, columns, n);
    } else {
      convert_n(picture + y * n, columns, size_t(n));
    }
    row.mirror();
    float* total = scale == 1 ? sum : row.zeros();   // the scale comes last, which decides how sums are rounded
    for (int64_t k = -radius; k <= radius; k++)
      if (const float weight = along[size_t(k + radius)]; weight != 0)
        add_weighted(columns + k * channels, weight, total, n);
    if (total != sum) add_weighted(total, scale, sum, n);
  }
}

}  // namespace ps
