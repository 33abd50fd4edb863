// From planes of samples to pixels: upsampling, colours, and turning upright. A block makes a tile of the picture, in
// shared memory, so that the rows of the output, which begin anywhere, are written as aligned vectors.
#pragma once

#include "kernels/device/color_spaces.h"
#include "kernels/device/jpeg_upsample.h"
#include "kernels/device/pack.h"

namespace ps::device {

// Tiles of the window, in the stored picture: they begin where runs of eight pixels and pairs of rows do.
struct JpegTiles {
  int x, y, across, down;
  PS_FN explicit JpegTiles(const JpegPicture& p) : x(p.x & ~7), y(p.y - (p.y + 1) % 2) {
    across = (p.x - x + p.stored_width + kJpegTileWidth - 1) / kJpegTileWidth;
    down = (p.y - y + p.stored_height + kJpegTileHeight - 1) / kJpegTileHeight;
  }
};

// Either way up, with what belongs to the vectors that the first and the last pixel lie in.
inline constexpr int kJpegPitch = kJpegTileWidth * 3 + 32, kJpegTurnedPitch = kJpegTileHeight * 3 + 32;
struct JpegPixelsMemory {
  alignas(16) uint8_t pixels[kJpegTileWidth * kJpegTurnedPitch];
};
static_assert(kJpegTileHeight * kJpegPitch <= kJpegTileWidth * kJpegTurnedPitch);

#if !PS_HOST
struct JpegColors {
  int components, channels;
  bool ycc, bgr, studio;
  PS_FN explicit JpegColors(const JpegPicture& p)
      : components(p.channels == 1 && p.ycc ? 1 : p.components), channels(p.channels), ycc(p.ycc), bgr(p.bgr),
        studio(p.studio) {}

  PS_FN static int byte(uint32_t four, int k) { return four >> 8 * k & 255; }
  // Full-range YCbCr (ITU-T T.871) to RGB, with libjpeg's rounding: four pixels, a word for each component.
  PS_FN static void ycc_to_rgb(uint32_t (&v)[3]) {
    constexpr int half = 1 << 15;
    int r[4], g[4], b[4];
    PS_UNROLL
    for (int k = 0; k < 4; k++) {
      const int y = int(pick_bytes(v[0], 0, 0x4044 | k << 8)), cb = byte(v[1], k), cr = byte(v[2], k);    // y: << 16
      r[k] = (y + (91881 * cr + half - 91881 * 128)) >> 16;
      g[k] = (y + (-22554 * cb - 46802 * cr + half + (22554 + 46802) * 128)) >> 16;
      b[k] = (y + (116130 * cb + half - 116130 * 128)) >> 16;
    }
    v[0] = pack_bytes(r[0], r[1], r[2], r[3]);
    v[1] = pack_bytes(g[0], g[1], g[2], g[3]);
    v[2] = pack_bytes(b[0], b[1], b[2], b[3]);
  }
  PS_FN static uint32_t rgb_to_gray(const uint32_t (&v)[3]) {
    uint32_t four = 0;
    for (int k = 0; k < 4; k++)
      four |= uint32_t(19595 * byte(v[0], k) + 38470 * byte(v[1], k) + 7471 * byte(v[2], k) + (1 << 15)) >> 16 << 8 * k;
    return four;
  }
  PS_FN static void rgb_to_studio(uint32_t (&v)[3]) {
    uint32_t to[3] = {};
    for (int k = 0; k < 4; k++) {
      const float in[3] = {float(byte(v[0], k)), float(byte(v[1], k)), float(byte(v[2], k))};
      float out[3];
      convert_color<Space::rgb, Space::ycbcr>(in, out, [](float x) { return x; });
      for (int i = 0; i < 3; i++) to[i] |= uint32_t(int(out[i] + 0.5f)) << 8 * k;
    }
    for (int i = 0; i < 3; i++) v[i] = to[i];
  }
  // From words of the components of four pixels to their bytes in the output: `channels` words.
  PS_FN void apply(uint32_t (&v)[3], uint32_t (&to)[3]) const {
    if (components == 3 && ycc) ycc_to_rgb(v);
    if (channels == 1) {
      to[0] = components == 1 ? v[0] : rgb_to_gray(v), to[1] = to[2] = 0;
      return;
    }
    if (studio) rgb_to_studio(v);
    const uint32_t a = bgr ? v[2] : v[0], b = v[1], c = bgr ? v[0] : v[2];
    to[0] = pick_bytes(pick_bytes(a, b, 0x1040), c, 0x3410);
    to[1] = pick_bytes(pick_bytes(a, b, 0x6205), c, 0x3250);
    to[2] = pick_bytes(pick_bytes(a, b, 0x0730), c, 0x7216);
  }
};

// Where a tile goes: to these pixels of the upright output, some of which there may not be.
template <int kWidth = kJpegTileWidth, int kHeight = kJpegTileHeight> struct JpegTile {
  int channels, x, y, width, height;
  int row_bytes, pitch;                // of the output, and in shared memory
  int begin, end, top, bottom;         // what there is of it: bytes of a row, and rows
  bool swap, flip_x, flip_y;
  uint8_t* out;                        // its first pixel
  uint8_t* pixels;

  // `u`, `v`: in the stored window.
  PS_FN JpegTile(const JpegPicture& p, int u, int v, uint8_t* memory)
      : channels(p.channels), swap(p.swap), flip_x(p.flip_x), flip_y(p.flip_y), pixels(memory) {
    if (flip_x) u = p.stored_width - kWidth - u;
    if (flip_y) v = p.stored_height - kHeight - v;
    x = swap ? v : u, width = swap ? kHeight : kWidth;
    y = swap ? u : v, height = swap ? kWidth : kHeight;
    row_bytes = p.width * channels, pitch = ((swap ? kHeight : kWidth) * 3 + 15) / 16 * 16 + 32;
    begin = max(0, -x) * channels, end = min(width, p.width - x) * channels;
    top = max(0, -y), bottom = min(height, p.height - y);
    out = on_gpu(p.out) + (int64_t(y) * row_bytes + x * channels);
  }
  // How far behind a multiple of 16 the row begins; in shared memory words remain words, so they begin at the next one.
  PS_FN int offset(int row) const { return (int(reinterpret_cast<uint64_t>(out)) + row * row_bytes) & 15; }
  PS_FN uint8_t* place(int row, int column) const {
    return pixels + row * pitch + ((offset(row) + 3) & ~3) + column * channels;
  }

  // Four pixels of the stored tile, as JpegColors makes them.
  PS_FN void put(int column, int row, const uint32_t (&four)[3]) const {
    if (!(swap | flip_x | flip_y)) {
      auto* words = reinterpret_cast<uint32_t*>(place(row, column));
      words[0] = four[0];
      if (channels == 3) words[1] = four[1], words[2] = four[2];
      return;
    }
    if (flip_y) row = kHeight - 1 - row;
    PS_UNROLL
    for (int i = 0; i < 4; i++) {
      const int across = flip_x ? kWidth - 1 - column - i : column + i;
      uint8_t* to = place(swap ? across : row, swap ? row : across);
      if (channels == 1) {
        *to = uint8_t(four[0] >> 8 * i);
      } else {
        PS_UNROLL
        for (int k = 3 * i; k < 3 * i + 3; k++) to[k - 3 * i] = uint8_t(four[k / 4] >> k % 4 * 8);
      }
    }
  }

  // Bytes are counted from the multiple of 16 before the row: word `byte` / 4.
  PS_FN static uint32_t shifted(uint32_t low, uint32_t high, int offset) {
    return shift_pair(low, high, uint32_t(-offset & 3) * 8);
  }
  // Of the number of vectors that suffice for so many bytes, wherever they begin.
  PS_FN static constexpr int vector_bits(int bytes) {
    int bits = 0;
    while ((1 << bits) * 16 < bytes + 15) bits++;
    return bits;
  }
  PS_FN void write_vectors() const {
    constexpr int wide = vector_bits(kWidth * 3), high = vector_bits(kHeight * 3);
    constexpr int less_wide = wide - vector_bits(kWidth), less_high = high - vector_bits(kHeight);
    const int bits = (swap ? high : wide) - (channels == 1 ? swap ? less_high : less_wide : 0);
    const int all = end - begin - 16;
    if (all < 0) return;
    PS_LOOP
    for (int i = (top << bits) + thread(); i < bottom << bits; i += threads()) {
      const int row = i >> bits, at = (i & ((1 << bits) - 1)) * 16, before = offset(row);
      if (uint32_t(at - before - begin) > uint32_t(all)) continue;
      const auto* words = reinterpret_cast<const uint32_t*>(pixels + row * pitch + at);
      const Vector from = *reinterpret_cast<const Vector*>(words);
      Vector to;
      PS_UNROLL
      for (int k = 0; k < 4; k++) to.v[k] = shifted(from.v[k], k < 3 ? from.v[k + 1] : words[4], before);
      *reinterpret_cast<Vector*>(out + (row * row_bytes + at - before)) = to;
    }
  }
  // What belongs to vectors that are not all of the row: at each end up to four words.
  PS_FN void write_ends() const {
    PS_LOOP
    for (int i = top * 8 + thread(); i < bottom * 8; i += threads()) {
      const int row = i >> 3, before = offset(row), first = before + begin, last = before + end;
      const int inner = (first + 15) & ~15;                      // where vectors begin
      const bool right = i & 4;
      const int from = right ? max(last & ~15, inner) : first, to = right ? last : min(last, inner);
      const int at = (from & ~15) + (i & 3) * 4, start = max(from, at), stop = min(to, at + 4);
      if (start >= stop) continue;
      const auto* words = reinterpret_cast<const uint32_t*>(pixels + row * pitch + at);
      const uint32_t word = shifted(words[0], words[1], before);
      uint8_t* bytes = out + (row * row_bytes + at - before);
      if (stop - start == 4) {
        *reinterpret_cast<uint32_t*>(bytes) = word;
      } else {
        PS_UNROLL
        for (int k = 0; k < 4; k++)
          if (at + k >= start && at + k < stop) bytes[k] = uint8_t(word >> 8 * k);
      }
    }
  }

 private:
  struct alignas(16) Vector {
    uint32_t v[4];
  };
};

PS_FN void jpeg_pixels(const Launch& l) {
  PS_SHARED_MEMORY(memory);
  const JpegBlock b = jpeg_block(l);
  const JpegPicture& p = b.picture;
  if (!is_sound(p)) return;
  const JpegTiles tiles(p);
  const JpegColors colors(p);
  const int down = b.number / tiles.across;
  const int x0 = tiles.x + (b.number - down * tiles.across) * kJpegTileWidth, y0 = tiles.y + down * kJpegTileHeight;
  const JpegTile tile(p, x0 - p.x, y0 - p.y, memory);
  PS_LOOP
  for (int i = thread(); i < kJpegTileWidth / 8 * (kJpegTileHeight / 2); i += threads()) {
    const int column = i % (kJpegTileWidth / 8) * 8, row = i / (kJpegTileWidth / 8) * 2, x = x0 + column, y = y0 + row;
    if (x + 8 <= p.x || x >= p.x + p.stored_width || y + 2 <= p.y || y >= p.y + p.stored_height) continue;
    uint32_t samples[3][2][2];
    PS_UNROLL
    for (int k = 0; k < 3; k++)
      if (k < colors.components) {
        jpeg_upsample(p.component[k], x, y, samples[k]);
      } else {
        PS_UNROLL
        for (int j = 0; j < 4; j++) samples[k][j / 2][j % 2] = samples[0][j / 2][j % 2];
      }
    PS_UNROLL
    for (int j = 0; j < 4; j++) {
      uint32_t four[3] = {samples[0][j / 2][j % 2], samples[1][j / 2][j % 2], samples[2][j / 2][j % 2]}, pixels[3];
      colors.apply(four, pixels);
      tile.put(column + j % 2 * 4, row + j / 2, pixels);
    }
  }
  sync();
  tile.write_vectors();
  tile.write_ends();
}
#endif

}  // namespace ps::device
