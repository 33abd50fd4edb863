// Debayering that looks at two neighbours in each direction, on the CPU: rows are split by columns' parities, so that
// pixels with the same colours to be found lie side by side.
#pragma once

#include <vector>

#include "device/color/debayer.h"

namespace ps {

template <class T, int kAlgorithm> class MirroredDebayer {
  static constexpr int64_t kSlack = 1;               // columns of each parity that are mirrored, on either side
  static constexpr int kRows = 5;

 public:
  // Of even extents. `blue`: as for bayer_pixel().
  void run(const T* in, T* out, int64_t height, int64_t width, const int32_t* blue) {
    half_ = width / 2;
    split_.resize(size_t(kRows * 2 * (half_ + 2 * kSlack)));
    for (int32_t* there = source_; there != source_ + kRows; there++) *there = -1;
    made_.resize(size_t(3 * 2 * half_));
    for (int64_t y = 0; y < height; y++, out += 3 * width) {
      const T* rows[kRows][2];
      for (int k = 0; k < kRows; k++) {
        const int64_t from = device::mirrored_101(y + k - 2, height), slot = from % kRows;
        if (source_[slot] != from) split(in + from * width, width, slot), source_[slot] = int32_t(from);
        for (int parity = 0; parity < 2; parity++) rows[k][parity] = line(slot, parity);
      }
      find<0>(rows, device::bayer_pixel(int(y), 0, blue[0], blue[1]));
      find<1>(rows, device::bayer_pixel(int(y), 1, blue[0], blue[1]));
      const int32_t *even = made_.data(), *odd = even + 3 * half_;
      for (int64_t i = 0; i < half_; i++)
        for (int c = 0; c < 3; c++) {
          out[6 * i + c] = T(even[c * half_ + i]);
          out[6 * i + 3 + c] = T(odd[c * half_ + i]);
        }
    }
  }

 private:
  T* line(int64_t slot, int parity) { return split_.data() + (slot * 2 + parity) * (half_ + 2 * kSlack) + kSlack; }

  void split(const T* from, int64_t width, int64_t slot) {
    T *__restrict even = line(slot, 0), *__restrict odd = line(slot, 1);
    for (int64_t i = 0; i < half_; i++) even[i] = from[2 * i], odd[i] = from[2 * i + 1];
    even[-1] = from[device::mirrored_101(-2, width)], odd[-1] = from[device::mirrored_101(-1, width)];
    even[half_] = from[device::mirrored_101(width, width)], odd[half_] = from[device::mirrored_101(width + 1, width)];
  }

  template <int kParity> void find(const T* const (*rows)[2], int32_t pixel) {
    switch (pixel) {
      case device::kBayerRed: return find<kParity, device::kBayerRed>(rows);
      case device::kBayerBlue: return find<kParity, device::kBayerBlue>(rows);
      case device::kBayerGreenByRed: return find<kParity, device::kBayerGreenByRed>(rows);
      default: return find<kParity, device::kBayerGreenByBlue>(rows);
    }
  }

  template <int kParity, int32_t kPixel> void find(const T* const (*rows)[2]) {
    // Copied: the compiler then knows that nothing changes them.
    const T *r0[2] = {rows[0][0], rows[0][1]}, *r1[2] = {rows[1][0], rows[1][1]}, *r2[2] = {rows[2][0], rows[2][1]},
            *r3[2] = {rows[3][0], rows[3][1]}, *r4[2] = {rows[4][0], rows[4][1]};
    const T* const* const of[kRows] = {r0, r1, r2, r3, r4};
    const int64_t n = half_;
    int32_t* __restrict first = made_.data() + kParity * 3 * n;
    int32_t *__restrict second = first + n, *__restrict third = second + n;
    for (int64_t i = 0; i < n; i++) {
      const auto p = [&](int dy, int dx) {
        const int column = kParity + dx + 4, parity = column & 1;
        return int(of[dy + 2][parity][i + (column >> 1) - 2]);
      };
      int made[3];
      device::debayer_mirrored<kAlgorithm>(p, kPixel, made);
      first[i] = made[0], second[i] = made[1], third[i] = made[2];
    }
  }

  int64_t half_ = 0;
  int32_t source_[kRows] = {};
  std::vector<T> split_;
  std::vector<int32_t> made_;
};

}  // namespace ps
