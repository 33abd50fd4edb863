// Fused kernels (device/picture/picture.h) that begin with planes of samples, as the JPEG decoder leaves them: a block
// makes the pixels that its tile needs, in shared memory behind what the stages have there. The picture is never
// written. Pictures of other decoders are read where they are.
#pragma once

#include "device/picture/blend_rows.h"
#include "device/jpeg/colors.h"
#include "device/jpeg/decoded_view.h"
#include "device/picture/tiles.h"

namespace ps::device {

inline constexpr int kDecodedWidth = 128;            // of a tile, where no stage has tables for one of kTile

#if !PS_HOST
template <int N> struct Decoded {
  DecodedView view;
  unsigned char* memory;
  int x = 0, y = 0, pitch = 0;         // which pixel the memory begins with; bytes of a row
  static constexpr int kChannels = N;
  static constexpr bool kTiled = true;
  using Type = uint8_t;

  PS_FN bool staged() const { return view.picture != nullptr; }
  // Pixels, from this column of the picture on.
  PS_FN Source<uint8_t, N, true> in_memory(int first) const {
    const int row = view.width * N;
    return {on_gpu(view.pixels) + ((first - view.x) * N - int64_t(view.y) * row), {N, row, 1, 0}};
  }
  PS_FN const unsigned char* place(int column, int row) const {
    return memory + ((row - y) * pitch + (column - x) * N);
  }
  PS_FN Vec<uint8_t, N> at(int column, int row, int c) const {
    if (!staged()) return in_memory(0).at(column, row, c);
    Vec<uint8_t, N> pixel;
    PS_UNROLL
    for (int i = 0; i < N; i++) pixel[i] = place(column, row)[i];
    return pixel;
  }

  PS_FN void begin(const Rect&) {}
  PS_FN void load(const Rect& r) {
    if (!staged()) return;
    const JpegPicture& p = *on_gpu(view.picture);
    const bool swap = p.swap, flip_x = p.flip_x, flip_y = p.flip_y;
    const int x0 = max(r.x0 - view.x, 0), x1 = min(r.x1 - view.x, p.width);
    const int y0 = max(r.y0 - view.y, 0), y1 = min(r.y1 - view.y, p.height);
    // Of the stored picture: from where runs of eight and pairs of rows begin.
    const int left = turned(swap ? y0 : x0, swap ? y1 : x1, flip_x, p.stored_width) + p.x;
    const int top = turned(swap ? x0 : y0, swap ? x1 : y1, flip_y, p.stored_height) + p.y;
    const int first_x = left & ~7, first_y = top - (top + 1) % 2;
    const int runs = (left - first_x + (swap ? y1 - y0 : x1 - x0) + 7) / 8;
    const int pairs = (top - first_y + (swap ? x1 - x0 : y1 - y0) + 1) / 2;
    const int across = turned(first_x - p.x, first_x - p.x + runs * 8, flip_x, p.stored_width);
    const int down = turned(first_y - p.y, first_y - p.y + pairs * 2, flip_y, p.stored_height);
    x = view.x + (swap ? down : across);
    y = view.y + (swap ? across : down);
    pitch = staged_pitch(swap ? pairs * 2 : runs * 8, N);
    const JpegColors colors(p);
    const bool upright = !(swap | flip_x | flip_y);
    PS_LOOP
    for (int i = thread(); i < runs * pairs; i += threads()) {
      const int pair = i / runs, u = (i - pair * runs) * 8, v = pair * 2;
      jpeg_make_pixels(p, colors, first_x + u, first_y + v, [&](int column, int row, const uint32_t (&four)[3]) {
        column += u, row += v;
        if (upright) {
          auto* words = reinterpret_cast<uint32_t*>(memory + (row * pitch + column * N));
          PS_UNROLL
          for (int k = 0; k < N; k++) words[k] = four[k];
          return;
        }
        if (flip_y) row = pairs * 2 - 1 - row;
        PS_UNROLL
        for (int k = 0; k < 4; k++) {
          const int along = flip_x ? runs * 8 - 1 - column - k : column + k;
          unsigned char* to = memory + ((swap ? along : row) * pitch + (swap ? row : along) * N);
          PS_UNROLL
          for (int j = 0; j < N; j++) to[j] = uint8_t(four[(k * N + j) / 4] >> (k * N + j) % 4 * 8);
        }
      });
    }
  }

 private:
  // Where [begin, end) of an axis begins when that is turned round.
  static PS_FN int turned(int begin, int end, bool flip, int size) { return flip ? size - end : begin; }
};

// Pixels x to x + 3 of row y.
template <int N> PS_FN auto group_at(const Decoded<N>& s, int x, int y, int c) {
  if (!s.staged()) return group_at(s.in_memory(0), x, y, c);
  uint8_t bytes[kGroup * N];
  const unsigned char* from = s.place(x, y);
  const int before = int(reinterpret_cast<uint64_t>(from) % 4);
  unpack_words<uint8_t, N>(reinterpret_cast<const uint32_t*>(from - before), before, bytes);
  Group<Vec<uint8_t, N>> pixels;
  PS_UNROLL
  for (int i = 0; i < kGroup * N; i++) pixels.v[i / N][i % N] = bytes[i];
  return pixels;
}

// The two kinds of memory, each of which is loaded from in its own way.
template <int N, class F> PS_FN void with_bytes(const Decoded<N>& s, F f) {
  if (s.staged()) f(SharedBytes<N>{s.memory - s.y * s.pitch, s.pitch}, s.x);
  else f(s.in_memory(s.view.x), s.view.x);       // words before the first pixel are not there
}

template <class To, int N, int kWidth, class... Stages> PS_FN void run_decoded(const Launch& l) {
  PS_SHARED_MEMORY(memory);
  const int sample = find_sample(l);
  const unsigned char* fields = l.jobs + int64_t(l.stride) * sample;
  const PictureJob& job = *reinterpret_cast<const PictureJob*>(fields);
  const int across = (job.width + kWidth - 1) / kWidth, number = block() - l.first_block[sample];
  const int row = number / across, x = (number - row * across) * kWidth, y = row * kTile;
  const Decoded<N> source{*on_gpu(static_cast<const DecodedView*>(job.in)), memory + job.staged};
  auto fused = Build<Stages...>::fuse(source, fields + padded(sizeof(PictureJob)));
  run_tile<kWidth>(fused, Rect{x, y, min(x + kWidth, job.width), min(y + kTile, job.height)}, job,
                   on_gpu(static_cast<To*>(job.out)));
}
#define PS_DECODED_KERNEL(...) \
  PS_BOUNDED_KERNEL(ps::device::kTiledThreads, 6) kernel(ps::device::Launch launch) { \
    ps::device::run_decoded<__VA_ARGS__>(launch); \
  }
#endif

}  // namespace ps::device
