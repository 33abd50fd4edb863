// Debayering that looks at two neighbours in each direction, on the CPU: rows are split by columns' parities, so that
// pixels with the same colours to be found lie side by side.
#pragma once

#include <algorithm>
#include <vector>

#include "device/color/debayer.h"

namespace ps {

template <class T, int kAlgorithm> class MirroredDebayer {
  static constexpr int64_t kSlack = 2;               // columns of each parity that are mirrored, on either side
  static constexpr int kRows = 5;                    // of pixels; of changes three
  static constexpr bool kGradients = kAlgorithm == device::kDebayerGradients;
  enum Change { kUpright, kSideways, kCornerRight, kCornerLeft, kCrossingRight, kCrossingLeft, kGreens, kChanges };

 public:
  // Of even extents. `blue`: as for bayer_pixel().
  void run(const T* in, T* out, int64_t height, int64_t width, const int32_t* blue);

 private:
  // Of columns of even numbers; those of odd ones are a row further. Of changes, each kind has two rows.
  T* line(int64_t y) { return split_.data() + (y + kRows) % kRows * 2 * row_ + kSlack; }
  int16_t* changes(int64_t y) { return changes_.data() + (y + 3) % 3 * 2 * kChanges * row_ + kSlack; }

  void split(const T* in, int64_t y, int64_t height, int64_t width) {
    const T* from = in + device::mirrored_101(y, height) * width;
    T *__restrict even = line(y), *__restrict odd = even + row_;
    const int64_t n = half_;
    for (int64_t i = 0; i < n; i++) even[i] = from[2 * i], odd[i] = from[2 * i + 1];
    for (int64_t i = 1; i <= kSlack; i++) {
      const int64_t beyond = half_ + i - 1;
      even[-i] = from[device::mirrored_101(-2 * i, width)], odd[-i] = from[device::mirrored_101(1 - 2 * i, width)];
      even[beyond] = from[device::mirrored_101(2 * beyond, width)];
      odd[beyond] = from[device::mirrored_101(2 * beyond + 1, width)];
    }
  }

  // The pixels of rows around one.
  template <int kParity> struct Pixels {
    const T *above2, *above, *own, *below, *below2;
    int64_t row, i;
    int operator()(int dy, int dx) const {
      const T* line = dy == -2 ? above2 : dy == -1 ? above : dy == 0 ? own : dy == 1 ? below : below2;
      const int column = kParity + dx + 4;
      return line[(column & 1) * row + i + (column >> 1) - 2];
    }
  };
  template <int kParity> Pixels<kParity> around(int64_t y) {
    return {line(y - 2), line(y - 1), line(y), line(y + 1), line(y + 2), row_, 0};
  }

  // Some are wanted of pixels alone that are not green.
  void find_changes(int64_t y, const int32_t* blue) {
    const bool green = ((y & 1) == blue[0]) != (blue[1] == 0);
    green ? find_changes<0, true>(y) : find_changes<0, false>(y);
    green ? find_changes<1, false>(y) : find_changes<1, true>(y);
  }
  template <int kParity, bool kGreen> void find_changes(int64_t y) {
    const Pixels<kParity> pixels = around<kParity>(y);
    const int64_t next = 2 * row_, end = half_ + 1;
    int16_t *__restrict upright = changes(y) + kParity * row_, *__restrict sideways = upright + next,
            *__restrict right = sideways + next, *__restrict left = right + next, *__restrict over = left + next,
            *__restrict under = over + next, *__restrict greens = under + next;
#pragma GCC ivdep                      // rows of pixels and of what is found are apart
    for (int64_t i = -1; i < end; i++) {
      Pixels<kParity> p = pixels;
      p.i = i;
      const device::BayerChanges<Pixels<kParity>> c{p};
      upright[i] = int16_t(c.upright(0, 0)), sideways[i] = int16_t(c.sideways(0, 0));
      right[i] = int16_t(c.corner(0, 0, 1)), left[i] = int16_t(c.corner(0, 0, -1));
      if (kGreen) continue;
      over[i] = int16_t(c.crossing(0, 0, 1)), under[i] = int16_t(c.crossing(0, 0, -1));
      greens[i] = int16_t(c.greens(0, 0));
    }
  }

  // What has been found of the rows around one.
  template <int kParity> struct Found {
    Pixels<kParity> pixels;
    const int16_t *above, *own, *below;
    int pixel(int y, int x) const { return pixels(y, x); }
    int get(int what, int y, int x) const {
      const int column = kParity + x + 2;
      const int16_t* line = y < 0 ? above : y == 0 ? own : below;
      return line[(2 * what + (column & 1)) * pixels.row + pixels.i + (column >> 1) - 1];
    }
    int upright(int y, int x) const { return get(kUpright, y, x); }
    int sideways(int y, int x) const { return get(kSideways, y, x); }
    int corner(int y, int x, int side) const { return get(side > 0 ? kCornerRight : kCornerLeft, y, x); }
    int crossing(int y, int x, int side) const { return get(side > 0 ? kCrossingRight : kCrossingLeft, y, x); }
    int greens(int y, int x) const { return get(kGreens, y, x); }
  };

  template <int kParity> void find(int64_t y, int32_t pixel) {
    switch (pixel) {
      case device::kBayerRed: return find<kParity, device::kBayerRed>(y);
      case device::kBayerBlue: return find<kParity, device::kBayerBlue>(y);
      case device::kBayerGreenByRed: return find<kParity, device::kBayerGreenByRed>(y);
      default: return find<kParity, device::kBayerGreenByBlue>(y);
    }
  }
  template <int kParity, int32_t kPixel> void find(int64_t y) {
    const int64_t n = half_;
    Found<kParity> found{around<kParity>(y), nullptr, nullptr, nullptr};
    if (kGradients) found.above = changes(y - 1), found.own = changes(y), found.below = changes(y + 1);
    T* __restrict first = made_.data() + kParity * 3 * n;
    T *__restrict second = first + n, *__restrict third = second + n;
#pragma GCC ivdep
    for (int64_t i = 0; i < n; i++) {
      int made[3];
      Found<kParity> here = found;
      here.pixels.i = i;
      if constexpr (kGradients) device::debayer_by_gradients<kPixel>(here, made);
      else device::debayer_chroma(here.pixels, kPixel, made);
      first[i] = T(made[0]), second[i] = T(made[1]), third[i] = T(made[2]);
    }
  }

  void join(T* __restrict out) const {
    const int64_t n = half_;
    const T *__restrict even = made_.data(), *__restrict odd = even + 3 * n;
    for (int64_t i = 0; i < n; i++, out += 6) {
      out[0] = even[i], out[1] = even[n + i], out[2] = even[2 * n + i];
      out[3] = odd[i], out[4] = odd[n + i], out[5] = odd[2 * n + i];
    }
  }

  int64_t half_ = 0, row_ = 0;
  std::vector<T> split_, made_;
  std::vector<int16_t> changes_;
};

// Not inline, so that each algorithm is compiled in a unit of its own.
template <class T, int kAlgorithm>
void MirroredDebayer<T, kAlgorithm>::run(const T* in, T* out, int64_t height, int64_t width, const int32_t* blue) {
  half_ = width / 2;
  row_ = half_ + 2 * kSlack;
  split_.resize(size_t(kRows * 2 * row_));
  made_.resize(size_t(3 * 2 * half_));
  if (kGradients) changes_.resize(size_t(3 * kChanges * 2 * row_));
  for (int64_t y = -2; y < 2; y++) split(in, y, height, width);
  if (kGradients) find_changes(-1, blue), find_changes(0, blue);
  for (int64_t y = 0; y < height; y++) {
    split(in, y + 2, height, width);
    if (kGradients) find_changes(y + 1, blue);
    find<0>(y, device::bayer_pixel(int(y), 0, blue[0], blue[1]));
    find<1>(y, device::bayer_pixel(int(y), 1, blue[0], blue[1]));
    join(out + 3 * width * y);
  }
}

extern template class MirroredDebayer<uint8_t, device::kDebayerGradients>;      // gradients.cpp
extern template class MirroredDebayer<uint8_t, device::kDebayerChroma>;         // chroma.cpp
extern template class MirroredDebayer<uint16_t, device::kDebayerChroma>;

}  // namespace ps
