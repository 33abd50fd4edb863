// The fused kernel (device/picture/picture.h) for groups with a tiled stage: a block does a tile of the output, some
// rows at a time.
#pragma once

#include "device/picture/rows.h"

namespace ps::device {

#if !PS_HOST
// A tile of the output, kWidth pixels wide.
template <int kWidth, class C, class To>
PS_FN void run_tile(C& fused, const Rect& tile, const PictureJob& job, To* out) {
  const int width = job.width, channels = job.channels, step = job.step;
  const Strides to = job.out_stride;
  fused.begin(tile);
  PS_LOOP
  for (int y = tile.y0; y < tile.y1; y += step) {
    const int end = min(y + step, tile.y1);
    sync();
    fused.load({tile.x0, y, tile.x1, end});
    sync();
    constexpr int groups = kWidth / kGroup;            // of a row
    PS_LOOP
    for (int i = thread(); i < groups * (end - y); i += threads()) {
      const int x = tile.x0 + i % groups * kGroup;
      if (x < tile.x1) run_group(fused, x, y + i / groups, width, channels, out, to);
    }
  }
}

template <class From, class To, int N, bool kDense, class... Stages> PS_FN void run_tiles(const Launch& l) {
  const int sample = find_sample(l);
  const unsigned char* fields = l.jobs + int64_t(l.stride) * sample;
  const PictureJob& job = *reinterpret_cast<const PictureJob*>(fields);
  const int width = job.width, height = job.height;
  const int across = (width + kTile - 1) / kTile, down = (height + kTile - 1) / kTile;
  const int number = block() - l.first_block[sample], row = number / across;
  const int frame = row / down, x0 = (number - row * across) * kTile, y0 = (row - frame * down) * kTile;
  const Source<From, N, kDense> source{on_gpu(static_cast<const From*>(job.in) + frame * job.in_stride.frame),
                                       job.in_stride};
  auto fused = Build<Stages...>::fuse(source, fields + padded(sizeof(PictureJob)));
  run_tile<kTile>(fused, Rect{x0, y0, min(x0 + kTile, width), min(y0 + kTile, height)}, job,
                  on_gpu(static_cast<To*>(job.out) + frame * job.out_stride.frame));
}
#define PS_TILE_KERNEL(...) \
  PS_BOUNDED_KERNEL(ps::device::kTiledThreads, 8) kernel(ps::device::Launch launch) { \
    ps::device::run_tiles<__VA_ARGS__>(launch); \
  }
#endif

}  // namespace ps::device
