// Colours of pictures whose pixels have one each, as sensors give them.
#pragma once

#include "device/base/border.h"
#include "device/base/divisor.h"
#include "device/tensor/elements.h"

namespace ps::device {

// The host's compiler makes vectors only of loops without calls.
#if PS_HOST
#define PS_INSIDE __attribute__((always_inline))
#else
#define PS_INSIDE
#endif

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

PS_FN int bayer_apart(int a, int b) { return a < b ? b - a : a - b; }

// How a picture changes around a pixel; p(dy, dx) is a neighbour. Corners are crossed to the right (side 1) or to the
// left (-1) where one goes up.
template <class P> struct BayerChanges {
  P p;
  PS_FN int pixel(int y, int x) const { return p(y, x); }
  PS_FN int upright(int y, int x) const {
    return bayer_apart(p(y - 1, x - 1), p(y + 1, x - 1)) + 2 * bayer_apart(p(y - 1, x), p(y + 1, x)) +
           bayer_apart(p(y - 1, x + 1), p(y + 1, x + 1));
  }
  PS_FN int sideways(int y, int x) const {
    return bayer_apart(p(y - 1, x - 1), p(y - 1, x + 1)) + 2 * bayer_apart(p(y, x - 1), p(y, x + 1)) +
           bayer_apart(p(y + 1, x - 1), p(y + 1, x + 1));
  }
  PS_FN int corner(int y, int x, int side) const { return 2 * bayer_apart(p(y - 1, x + side), p(y + 1, x - side)); }
  PS_FN int crossing(int y, int x, int side) const {
    return corner(y, x, side) + bayer_apart(p(y - 1, x), p(y, x - side)) + bayer_apart(p(y, x + side), p(y + 1, x));
  }
  PS_FN int greens(int y, int x) const { return (p(y - 1, x) + p(y, x - 1) + p(y, x + 1) + p(y + 1, x)) >> 1; }
};

// The two missing colours of a pixel: its own, and how much they differ from it by the mean of those of eight
// directions in which the picture changes little (Chang, Cheung and Pang, 1999). The first one is that of the pixel's
// row if the pixel is green, else green.
struct BayerMissing {
  int first, second;
};
template <bool kGreen, class Changes> PS_FN PS_INSIDE BayerMissing debayer_gradients(const Changes& c) {
  const auto diagonal = [&](int y, int x) PS_INSIDE {
    const int side = -y * x;
    if (!kGreen) return c.crossing(y, x, side) + c.crossing(0, 0, side);
    return c.corner(0, 0, side) + c.corner(y, 0, side) + c.corner(0, x, side) + c.corner(y, x, side);
  };
  const int own = c.pixel(0, 0), height = c.upright(0, 0), width = c.sideways(0, 0);
  const int up = c.upright(-1, 0) + height, down = height + c.upright(1, 0), left = c.sideways(0, -1) + width,
            right = width + c.sideways(0, 1), up_right = diagonal(-1, 1), down_left = diagonal(1, -1),
            up_left = diagonal(-1, -1), down_right = diagonal(1, 1);
  const int least = min(min(min(up, down), min(left, right)), min(min(up_right, down_left), min(up_left, down_right)));
  const int most = max(max(max(up, down), max(left, right)), max(max(up_right, down_left), max(up_left, down_right)));
  const int limit = least + max(most / 2, 1);
  int count = 0, first = 0, second = 0;          // twice the differences
  const auto add = [&](int gradient, int twice, int one, int other) PS_INSIDE {
    const int all = gradient < limit ? -1 : 0;
    count -= all;
    first += (one - twice) & all;
    second += (other - twice) & all;
  };
  const auto straight = [&](int gradient, int y, int x) PS_INSIDE {
    const int twice = own + c.pixel(2 * y, 2 * x), near = 2 * c.pixel(y, x);
    if (!kGreen) return add(gradient, twice, near, c.pixel(y + x, x + y) + c.pixel(y - x, x - y));
    const int far = c.pixel(2 * y + x, 2 * x + y) + c.pixel(2 * y - x, 2 * x - y);
    add(gradient, twice, x ? near : far, x ? far : near);
  };
  const auto slanted = [&](int gradient, int y, int x) PS_INSIDE {
    const int near = 2 * c.pixel(y, x);
    if (!kGreen) add(gradient, own + c.pixel(2 * y, 2 * x), c.greens(y, x), near);
    else add(gradient, near, c.pixel(0, x) + c.pixel(2 * y, x), c.pixel(y, 0) + c.pixel(y, 2 * x));
  };
  straight(up, -1, 0), straight(down, 1, 0), straight(left, 0, -1), straight(right, 0, 1);
  slanted(up_right, -1, 1), slanted(down_left, 1, -1), slanted(up_left, -1, -1), slanted(down_right, 1, 1);
  const float scale = 0.5f / float(count);
  const auto value = [&](int sum) PS_INSIDE { return clamp(own + int(even_half(float(sum) * scale)), 0, 255); };
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
  const int sideways = bayer_apart(own, (p(0, -2) + p(0, 2)) >> 1);
  const int upright = bayer_apart(own, (p(-2, 0) + p(2, 0)) >> 1);
  out[0] = pixel == kBayerRed ? own : other;
  out[1] = sideways < upright ? across >> 1 : sideways > upright ? along >> 1 : (across + along) >> 2;
  out[2] = pixel == kBayerRed ? other : own;
}

// All three colours. `Changes` is BayerChanges, or what has found the same before.
template <int32_t kPixel, class Changes> PS_FN PS_INSIDE void debayer_by_gradients(const Changes& c, int* out) {
  constexpr bool green = kPixel == kBayerGreenByRed || kPixel == kBayerGreenByBlue;
  const BayerMissing m = debayer_gradients<green>(c);
  const int own = c.pixel(0, 0);
  out[0] = kPixel == kBayerRed ? own : kPixel == kBayerGreenByRed ? m.first : m.second;
  out[1] = green ? own : m.first;
  out[2] = kPixel == kBayerBlue ? own : kPixel == kBayerGreenByBlue ? m.first : m.second;
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
    const int32_t pixel = bayer_pixel(y, x, position[0], position[1]);
    if constexpr (kAlgorithm == kDebayerChroma) {
      debayer_chroma(p, pixel, made);
    } else {
      const BayerChanges<decltype(p)> c{p};
      if (pixel == kBayerRed) debayer_by_gradients<kBayerRed>(c, made);
      else if (pixel == kBayerBlue) debayer_by_gradients<kBayerBlue>(c, made);
      else if (pixel == kBayerGreenByRed) debayer_by_gradients<kBayerGreenByRed>(c, made);
      else debayer_by_gradients<kBayerGreenByBlue>(c, made);
    }
    for (int c = 0; c < 3; c++) to[c] = T(made[c]);
  }
};

}  // namespace ps::device
