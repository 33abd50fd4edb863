// Colours of pictures whose pixels have one each, as sensors give them.
#pragma once

#include "device/base/divisor.h"
#include "device/tensor/elements.h"

namespace ps::device {

// What the host writes.
enum DebayerAlgorithm : int32_t { kDebayerBilinear, kDebayerEdges, kDebayerGray };
enum BayerPixel : int32_t { kBayerRed, kBayerGreenByRed, kBayerGreenByBlue, kBayerBlue };    // by: in the same row

// Which colour a pixel has, where blue ones are at odd or even rows and columns.
PS_FN int32_t bayer_pixel(int y, int x, int blue_y, int blue_x) {
  const bool blue_row = (y & 1) == blue_y, blue_column = (x & 1) == blue_x;
  return blue_row ? (blue_column ? kBayerBlue : kBayerGreenByBlue) : blue_column ? kBayerGreenByRed : kBayerRed;
}

// A pixel that has neighbours all around; p is in the input.
template <class T, int kAlgorithm> PS_FN void debayer(const T* p, int64_t row, int32_t pixel, T* out) {
  const int left = p[-1], right = p[1], up = p[-row], down = p[row], own = *p;
  const int corners = int(p[-row - 1]) + int(p[-row + 1]) + int(p[row - 1]) + int(p[row + 1]);
  const bool green = pixel == kBayerGreenByRed || pixel == kBayerGreenByBlue;
  if constexpr (kAlgorithm == kDebayerGray) {
    constexpr int red = 4899, middle = 9617, blue = 1868;        // of 2^14
    // In unsigned numbers of 64 bits: 16-bit pixels need 33.
    uint64_t sum;
    if (green) {
      const bool by_red = pixel == kBayerGreenByRed;
      sum = 2 * (uint64_t(left + right) * (by_red ? red : blue) + uint64_t(up + down) * (by_red ? blue : red) +
                 uint64_t(own) * 2 * middle);
    } else {
      sum = uint64_t(corners) * (pixel == kBayerRed ? blue : red) + uint64_t(left + right + up + down) * middle +
            uint64_t(own) * 4 * (pixel == kBayerRed ? red : blue);
    }
    out[0] = T((sum + (1 << 15)) >> 16);
  } else {
    const int across = (left + right + 1) >> 1, along = (up + down + 1) >> 1;
    if (green) {
      const bool by_red = pixel == kBayerGreenByRed;
      out[0] = T(by_red ? across : along);
      out[1] = T(own);
      out[2] = T(by_red ? along : across);
      return;
    }
    int between = (left + right + up + down + 2) >> 2;
    if constexpr (kAlgorithm == kDebayerEdges) {
      const int sideways = left < right ? right - left : left - right, upright = up < down ? down - up : up - down;
      between = sideways > upright ? along : across;
    }
    const T other = T((corners + 2) >> 2);
    out[0] = pixel == kBayerRed ? T(own) : other;
    out[1] = T(between);
    out[2] = pixel == kBayerRed ? other : T(own);
  }
}

// Pixels at the border are those next to them. A picture of two rows or columns has no others: it is black.
struct DebayerFields {
  const void* in;
  void* out;
  const int32_t* blue;                 // row and column, of each frame
  int32_t height, width;
  Divisor columns, rows, frame;        // pixels of a frame, or of all
};

template <class T, int kAlgorithm> struct Debayer : DebayerFields {
  PS_FN void element(int64_t i) const {
    constexpr int channels = kAlgorithm == kDebayerGray ? 1 : 3;
    T* to = static_cast<T*>(out) + i * channels;
    if (height < 3 || width < 3) {
      for (int c = 0; c < channels; c++) to[c] = 0;
      return;
    }
    const auto line = columns.quotient(uint64_t(i)), plane = rows.quotient(line);
    const int x = clamp(int(uint64_t(i) - line * columns.number()), 1, width - 2);
    const int y = clamp(int(line - plane * rows.number()), 1, height - 2);
    const int32_t* position = blue + 2 * int64_t(frame.quotient(uint64_t(i)));
    const T* p = static_cast<const T*>(in) + (int64_t(plane) * height + y) * width + x;
    debayer<T, kAlgorithm>(p, width, bayer_pixel(y, x, position[0], position[1]), to);
  }
};

}  // namespace ps::device
