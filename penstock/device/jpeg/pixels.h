// From planes of samples to pictures: upsampling, colours, and turning upright. A block makes a tile of the picture, in
// shared memory, so that the rows of the output, which begin anywhere, are written as aligned vectors.
#pragma once

#include "device/jpeg/colors.h"

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
  const int down = b.index / tiles.across;
  const int x0 = tiles.x + (b.index - down * tiles.across) * kJpegTileWidth, y0 = tiles.y + down * kJpegTileHeight;
  const JpegTile tile(p, x0 - p.x, y0 - p.y, memory);
  PS_LOOP
  for (int i = thread(); i < kJpegTileWidth / 8 * (kJpegTileHeight / 2); i += threads()) {
    const int column = i % (kJpegTileWidth / 8) * 8, row = i / (kJpegTileWidth / 8) * 2, x = x0 + column, y = y0 + row;
    if (x + 8 <= p.x || x >= p.x + p.stored_width || y + 2 <= p.y || y >= p.y + p.stored_height) continue;
    const auto put = [&](int i, int k, const uint32_t (&four)[3]) { tile.put(column + i, row + k, four); };
    jpeg_make_pixels(p, colors, x, y, put);
  }
  sync();
  tile.write_vectors();
  tile.write_ends();
}
#endif

}  // namespace ps::device
