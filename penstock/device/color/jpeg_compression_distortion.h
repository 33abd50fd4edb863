// What JPEG makes of pictures: the JPEG group's library, forth and back, but for the coding. Numbers are its own to the
// last bit: the accurate integer transforms ("islow"), colours of half width and height, and the triangle filter.
#pragma once

#include "device/base/divisor.h"
#include "device/tensor/elements.h"

namespace ps::device {

// The constants of Loeffler, Ligtenberg and Moschytz's transform, times 2^13.
struct JpegConstants {
  static constexpr int k0_298 = 2446, k0_390 = 3196, k0_541 = 4433, k0_765 = 6270, k0_899 = 7373, k1_175 = 9633,
                       k1_501 = 12299, k1_847 = 15137, k1_961 = 16069, k2_053 = 16819, k2_562 = 20995, k3_072 = 25172;
};

// V: integers, or on the CPU vectors of them, which not every processor's calls give back as values.
template <class V> PS_FN void jpeg_round(V& to, const V& v, int bits) { to = (v + (1 << (bits - 1))) >> bits; }

// Eight numbers, `step` apart. The first pass (rows) leaves them four times as large.
template <bool kRows, class V> PS_FN void jpeg_forward(V* v, int step) {
  using K = JpegConstants;
  constexpr int bits = kRows ? 11 : 15;
  const V s0 = v[0] + v[7 * step], s1 = v[step] + v[6 * step], s2 = v[2 * step] + v[5 * step];
  const V s3 = v[3 * step] + v[4 * step], d0 = v[0] - v[7 * step], d1 = v[step] - v[6 * step];
  const V d2 = v[2 * step] - v[5 * step], d3 = v[3 * step] - v[4 * step];
  const V e0 = s0 + s3, e3 = s0 - s3, e1 = s1 + s2, e2 = s1 - s2;
  if constexpr (kRows) {
    v[0] = (e0 + e1) * 4;
    v[4 * step] = (e0 - e1) * 4;
  } else {
    jpeg_round<V>(v[0], e0 + e1, 2);
    jpeg_round<V>(v[4 * step], e0 - e1, 2);
  }
  const V middle = (e2 + e3) * K::k0_541;
  jpeg_round<V>(v[2 * step], middle + e3 * K::k0_765, bits);
  jpeg_round<V>(v[6 * step], middle - e2 * K::k1_847, bits);
  const V z = (d3 + d1 + d2 + d0) * K::k1_175, z1 = (d3 + d0) * -K::k0_899, z2 = (d2 + d1) * -K::k2_562;
  const V z3 = (d3 + d1) * -K::k1_961 + z, z4 = (d2 + d0) * -K::k0_390 + z;
  jpeg_round<V>(v[7 * step], d3 * K::k0_298 + z1 + z3, bits);
  jpeg_round<V>(v[5 * step], d2 * K::k2_053 + z2 + z4, bits);
  jpeg_round<V>(v[3 * step], d1 * K::k3_072 + z2 + z3, bits);
  jpeg_round<V>(v[step], d0 * K::k1_501 + z1 + z4, bits);
}

// The other way round: columns first.
template <bool kRows, class V> PS_FN void jpeg_inverse(V* v, int step) {
  using K = JpegConstants;
  constexpr int bits = kRows ? 18 : 11;
  const V middle = (v[2 * step] + v[6 * step]) * K::k0_541;
  const V e2 = middle - v[6 * step] * K::k1_847, e3 = middle + v[2 * step] * K::k0_765;
  const V e0 = (v[0] + v[4 * step]) * 8192, e1 = (v[0] - v[4 * step]) * 8192;
  const V t0 = e0 + e3, t3 = e0 - e3, t1 = e1 + e2, t2 = e1 - e2;
  const V a = v[7 * step], b = v[5 * step], c = v[3 * step], d = v[step];
  const V z = (a + c + b + d) * K::k1_175, z1 = (a + d) * -K::k0_899, z2 = (b + c) * -K::k2_562;
  const V z3 = (a + c) * -K::k1_961 + z, z4 = (b + d) * -K::k0_390 + z;
  const V o0 = a * K::k0_298 + z1 + z3, o1 = b * K::k2_053 + z2 + z4;
  const V o2 = c * K::k3_072 + z2 + z3, o3 = d * K::k1_501 + z1 + z4;
  jpeg_round<V>(v[0], t0 + o3, bits), jpeg_round<V>(v[7 * step], t0 - o3, bits);
  jpeg_round<V>(v[step], t1 + o2, bits), jpeg_round<V>(v[6 * step], t1 - o2, bits);
  jpeg_round<V>(v[2 * step], t2 + o1, bits), jpeg_round<V>(v[5 * step], t2 - o1, bits);
  jpeg_round<V>(v[3 * step], t3 + o0, bits), jpeg_round<V>(v[4 * step], t3 - o0, bits);
}

// A block in place: samples less 128, by steps of `quant`.
PS_FN void jpeg_distort_block(int* v, const uint16_t* quant) {
  for (int i = 0; i < 8; i++) jpeg_forward<true>(v + 8 * i, 1);
  for (int i = 0; i < 8; i++) jpeg_forward<false>(v + i, 8);
  for (int i = 0; i < 64; i++) {
    const int q = quant[i], twice = q * 8;               // coefficients are eight times as large
    const int size = v[i] < 0 ? -v[i] : v[i], steps = (size + twice / 2) / twice;
    v[i] = (v[i] < 0 ? -steps : steps) * q;
  }
  for (int i = 0; i < 8; i++) jpeg_inverse<false>(v + i, 8);
  for (int i = 0; i < 8; i++) jpeg_inverse<true>(v + 8 * i, 1);
}

PS_FN int jpeg_luma(int r, int g, int b) { return (19595 * r + 38470 * g + 7471 * b + 32768) >> 16; }
PS_FN int jpeg_cb(int r, int g, int b) { return (-11059 * r - 21709 * g + 32768 * b + (128 << 16) + 32767) >> 16; }
PS_FN int jpeg_cr(int r, int g, int b) { return (32768 * r - 27439 * g - 5329 * b + (128 << 16) + 32767) >> 16; }

PS_FN uint8_t jpeg_byte(int v) { return uint8_t(v < 0 ? 0 : v > 255 ? 255 : v); }

// Frames one behind the other; those of colours have half the width and height, rounded up, and rows of whole blocks.
struct JpegPlanes {
  int32_t width, height;               // of pictures
  uint8_t *luma, *cb, *cr;
  PS_FN int half_width() const { return (width + 1) / 2; }
  PS_FN int half_height() const { return (height + 1) / 2; }
  PS_FN int colour_row() const { return (width + 15) / 16 * 8; }
};

struct JpegQuant {
  uint16_t luma[64], colour[64];
};

// Four pixels to a sample of each colour, and of brightness; beyond the border the last pixels are repeated, and so the
// samples there are others than the last ones.
struct JpegColours {
  const uint8_t* in;
  JpegPlanes to;
  PS_FN void element(int64_t i) const {
    const int w = to.colour_row(), h = to.half_height();
    const int64_t frame = i / (int64_t(w) * h), rest = i - frame * w * h;
    const int y = int(rest / w), x = int(rest - int64_t(y) * w);
    const uint8_t* picture = in + frame * to.width * to.height * 3;
    int cb = 0, cr = 0;
    for (int dy = 0; dy < 2; dy++)
      for (int dx = 0; dx < 2; dx++) {
        const int px = min(2 * x + dx, to.width - 1), py = min(2 * y + dy, to.height - 1);
        const uint8_t* p = picture + (int64_t(py) * to.width + px) * 3;
        to.luma[(frame * to.height + py) * to.width + px] = uint8_t(jpeg_luma(p[0], p[1], p[2]));
        cb += jpeg_cb(p[0], p[1], p[2]);
        cr += jpeg_cr(p[0], p[1], p[2]);
      }
    const int bias = 1 + (x & 1);                        // 1, 2, 1, 2 ...
    to.cb[i] = uint8_t((cb + bias) >> 2);
    to.cr[i] = uint8_t((cr + bias) >> 2);
  }
};

// A block of a plane, and back.
struct JpegBlocks {
  uint8_t* plane;
  JpegQuant quant;
  int32_t width, height, luma;
  PS_FN void element(int64_t i) const {
    const int across = (width + 7) / 8, down = (height + 7) / 8;
    const int64_t frame = i / (int64_t(across) * down), rest = i - frame * across * down;
    const int y0 = int(rest / across) * 8, x0 = int(rest % across) * 8;
    uint8_t* from = plane + frame * width * height;
    int v[64];
    for (int y = 0; y < 8; y++)
      for (int x = 0; x < 8; x++)
        v[8 * y + x] = from[int64_t(min(y0 + y, height - 1)) * width + min(x0 + x, width - 1)] - 128;
    jpeg_distort_block(v, luma ? quant.luma : quant.colour);
    for (int y = 0; y < 8 && y0 + y < height; y++)
      for (int x = 0; x < 8 && x0 + x < width; x++)
        from[int64_t(y0 + y) * width + x0 + x] = jpeg_byte(v[8 * y + x] + 128);
  }
};

// A colour of a pixel: three quarters of the nearer row and column, a quarter of the other one; but for the narrowest
// pictures, the nearest sample.
PS_FN int jpeg_colour(const uint8_t* plane, int row, int w, int h, int x, int y) {
  const int near_y = y / 2, far_y = clamp(y & 1 ? near_y + 1 : near_y - 1, 0, h - 1);
  const int near_x = x / 2, far_x = x & 1 ? near_x + 1 : near_x - 1;
  if (w <= 2) return plane[int64_t(near_y) * row + near_x];
  const uint8_t *near_row = plane + int64_t(near_y) * row, *far_row = plane + int64_t(far_y) * row;
  const int own = 3 * near_row[near_x] + far_row[near_x];
  if (far_x < 0 || far_x >= w) return (4 * own + (x & 1 ? 7 : 8)) >> 4;
  return (3 * own + 3 * near_row[far_x] + far_row[far_x] + (x & 1 ? 7 : 8)) >> 4;
}

PS_FN void jpeg_rgb(int y, int cb, int cr, uint8_t* to) {
  const int b = cb - 128, r = cr - 128;
  to[0] = jpeg_byte(y + ((91881 * r + 32768) >> 16));
  to[1] = jpeg_byte(y + ((-22554 * b - 46802 * r + 32768) >> 16));
  to[2] = jpeg_byte(y + ((116130 * b + 32768) >> 16));
}

struct JpegPixels {
  JpegPlanes from;
  uint8_t* out;
  PS_FN void element(int64_t i) const {
    const int w = from.half_width(), h = from.half_height(), wide = from.colour_row();
    const int64_t row = i / from.width, frame = row / from.height, at = frame * wide * h;
    const int x = int(i - row * from.width), y = int(row - frame * from.height);
    const int cb = jpeg_colour(from.cb + at, wide, w, h, x, y), cr = jpeg_colour(from.cr + at, wide, w, h, x, y);
    jpeg_rgb(from.luma[i], cb, cr, out + 3 * i);
  }
};

}  // namespace ps::device
