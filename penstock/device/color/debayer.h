// Colours of pictures whose pixels have one each, as sensors give them.
#pragma once

#include "device/base/border.h"
#include "device/base/divisor.h"
#include "device/tensor/elements.h"

namespace ps::device {

// What the host writes.
enum DebayerAlgorithm : int32_t { kDebayerBilinear, kDebayerEdges, kDebayerGray, kDebayerGradients, kDebayerChroma };
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

// Whether an algorithm needs two neighbours in each direction; pictures are mirrored for it, without their last places.
PS_FN constexpr bool debayers_mirrored(int32_t algorithm) {
  return algorithm == kDebayerGradients || algorithm == kDebayerChroma;
}
inline constexpr int kLeastForGradients = 8;     // OpenCV's bilinear interpolation is for smaller pictures

// How much the two missing colours of a pixel differ from its own, by the mean of those of eight directions in which
// the picture changes little (Chang, Cheung and Pang, 1999); p(dy, dx) is a neighbour. The first one is that of the
// pixel's row if the pixel is green, else green.
struct BayerMissing {
  int first, second;
};
PS_FN int bayer_apart(int a, int b) { return a < b ? b - a : a - b; }
template <bool kGreen, class P> PS_FN BayerMissing debayer_gradients(const P& p) {
  const auto upright = [&](int y, int x) {
    return bayer_apart(p(y - 1, x - 1), p(y + 1, x - 1)) + 2 * bayer_apart(p(y - 1, x), p(y + 1, x)) +
           bayer_apart(p(y - 1, x + 1), p(y + 1, x + 1));
  };
  const auto sideways = [&](int y, int x) {
    return bayer_apart(p(y - 1, x - 1), p(y - 1, x + 1)) + 2 * bayer_apart(p(y, x - 1), p(y, x + 1)) +
           bayer_apart(p(y + 1, x - 1), p(y + 1, x + 1));
  };
  // Along a diagonal, to the right (side 1) where it goes up, or to the left (side -1).
  const auto corner = [&](int y, int x, int side) { return 2 * bayer_apart(p(y - 1, x + side), p(y + 1, x - side)); };
  const auto cross = [&](int y, int x, int side) {
    return corner(y, x, side) + bayer_apart(p(y - 1, x), p(y, x - side)) + bayer_apart(p(y, x + side), p(y + 1, x));
  };
  const auto diagonal = [&](int up, int right) {
    const int side = up * right;
    if (!kGreen) return cross(-up, right, side) + cross(0, 0, side);
    return corner(0, 0, side) + corner(-up, 0, side) + corner(0, right, side) + corner(-up, right, side);
  };
  const auto greens = [&](int y, int x) { return (p(y - 1, x) + p(y, x - 1) + p(y, x + 1) + p(y + 1, x)) >> 1; };
  const int own = p(0, 0), height = upright(0, 0), width = sideways(0, 0);
  const int up = upright(-1, 0) + height, down = height + upright(1, 0), left = sideways(0, -1) + width,
            right = width + sideways(0, 1), up_right = diagonal(1, 1), down_left = diagonal(-1, -1),
            up_left = diagonal(1, -1), down_right = diagonal(-1, 1);
  const int least = min(min(min(up, down), min(left, right)), min(min(up_right, down_left), min(up_left, down_right)));
  const int most = max(max(max(up, down), max(left, right)), max(max(up_right, down_left), max(up_left, down_right)));
  const int limit = least + max(most / 2, 1);
  int count = 0, first = 0, second = 0;          // twice the differences
  // Straight on in the direction (y, x).
  const auto straight = [&](int gradient, int y, int x) {
    const int twice = own + p(2 * y, 2 * x), near = 2 * p(y, x), sides = p(y + x, x + y) + p(y - x, x - y);
    const int far = p(2 * y + x, 2 * x + y) + p(2 * y - x, 2 * x - y);
    const bool taken = gradient < limit;
    count += taken;
    if (!kGreen) first += taken ? near - twice : 0, second += taken ? sides - twice : 0;
    else first += taken ? (x ? near : far) - twice : 0, second += taken ? (x ? far : near) - twice : 0;
  };
  const auto slanted = [&](int gradient, int y, int x) {
    const bool taken = gradient < limit;
    count += taken;
    if (!kGreen) {
      const int twice = own + p(2 * y, 2 * x);
      first += taken ? greens(y, x) - twice : 0;
      second += taken ? 2 * p(y, x) - twice : 0;
    } else {
      const int twice = 2 * p(y, x);
      first += taken ? p(0, x) + p(2 * y, x) - twice : 0;
      second += taken ? p(y, 0) + p(y, 2 * x) - twice : 0;
    }
  };
  straight(up, -1, 0), straight(down, 1, 0), straight(left, 0, -1), straight(right, 0, 1);
  slanted(up_right, -1, 1), slanted(down_left, 1, -1), slanted(up_left, -1, -1), slanted(down_right, 1, 1);
  const float scale = 0.5f / float(count);
  const auto value = [&](int sum) { return clamp(own + int(even_half(float(sum) * scale)), 0, 255); };
  return {value(first), value(second)};
}

// Green follows the direction in which the pixel's own colour changes less, as NPP has it; means are cut off.
template <class P> PS_FN void debayer_chroma(const P& p, int32_t pixel, int* out) {
  const int own = p(0, 0), across = p(0, -1) + p(0, 1), along = p(-1, 0) + p(1, 0);
  if (pixel == kBayerGreenByRed || pixel == kBayerGreenByBlue) {
    const bool by_red = pixel == kBayerGreenByRed;
    out[0] = (by_red ? across : along) >> 1, out[1] = own, out[2] = (by_red ? along : across) >> 1;
    return;
  }
  const int other = (p(-1, -1) + p(-1, 1) + p(1, -1) + p(1, 1)) >> 2;
  const int sideways = bayer_apart(own, (p(0, -2) + p(0, 2)) >> 1), upright = bayer_apart(own, (p(-2, 0) + p(2, 0)) >> 1);
  out[0] = pixel == kBayerRed ? own : other;
  out[1] = sideways < upright ? across >> 1 : sideways > upright ? along >> 1 : (across + along) >> 2;
  out[2] = pixel == kBayerRed ? other : own;
}

// All three colours, by one of the two.
template <int kAlgorithm, class P> PS_FN void debayer_mirrored(const P& p, int32_t pixel, int* out) {
  if constexpr (kAlgorithm == kDebayerChroma) {
    debayer_chroma(p, pixel, out);
  } else if (pixel == kBayerGreenByRed || pixel == kBayerGreenByBlue) {
    const BayerMissing m = debayer_gradients<true>(p);
    const bool by_red = pixel == kBayerGreenByRed;
    out[0] = by_red ? m.first : m.second, out[1] = p(0, 0), out[2] = by_red ? m.second : m.first;
  } else {
    const BayerMissing m = debayer_gradients<false>(p);
    out[0] = pixel == kBayerRed ? p(0, 0) : m.second, out[1] = m.first, out[2] = pixel == kBayerRed ? m.second : p(0, 0);
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
    if constexpr (debayers_mirrored(kAlgorithm))
      if (kAlgorithm == kDebayerChroma || (height >= kLeastForGradients && width >= kLeastForGradients))
        return mirrored(i, to);
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
  PS_FN void mirrored(int64_t i, T* to) const {
    const auto line = columns.quotient(uint64_t(i)), plane = rows.quotient(line);
    const int x = int(uint64_t(i) - line * columns.number()), y = int(line - plane * rows.number());
    const int32_t* position = blue + 2 * int64_t(frame.quotient(uint64_t(i)));
    const T* from = static_cast<const T*>(in) + int64_t(plane) * height * width;
    const auto p = [&](int dy, int dx) {
      return int(from[mirrored_101(y + dy, height) * width + mirrored_101(x + dx, width)]);
    };
    int made[3];
    debayer_mirrored<kAlgorithm>(p, bayer_pixel(y, x, position[0], position[1]), made);
    for (int c = 0; c < 3; c++) to[c] = T(made[c]);
  }
};

}  // namespace ps::device
