// A fused kernel, which makes pictures out of pictures by a group of stages: each output pixel asks the last stage for
// its channels, which asks the one above, up to the picture in memory. A stage is a functor whose fields the host has
// filled in:
//
//   template <class Up> PS_FN Vec<T, Up::kChannels> at(const Up& up, int x, int y, int c) const
//
// gives channels c, c + 1, ... of its pixel (x, y), for which it calls up.at(x, y, c) where it likes. What it gives is
// rounded to its output's type, so a fused kernel computes what its operators would one by one.
//
// A stage may have a block do work for a whole tile beforehand, in shared memory: it specializes Fused for that, with
// kTiled. Stages below it that move pixels say which ones they ask for, of a rectangle of their output:
//
//   PS_FN Rect region(const Rect& output) const
#pragma once

#include "device/base/convert.h"
#include "device/base/divisor.h"

namespace ps::device {

template <class T, int N> struct Vec {
  T v[N];
  PS_FN T& operator[](int i) { return v[i]; }
  PS_FN const T& operator[](int i) const { return v[i]; }
};

// Distances in elements from one pixel, row, channel or frame to the next. Frames have less than 2^31 elements.
struct Strides {
  int32_t x, y, c;
  int64_t frame;
};

// Pixels x0 <= x < x1, y0 <= y < y1.
struct Rect {
  int x0, y0, x1, y1;
};

// What stages that take windows, turned round perhaps, ask for: pixel x + step * ox for their pixel ox.
PS_FN Rect window_region(const Rect& r, int x, int y, int step_x, int step_y) {
  const int ax = x + r.x0 * step_x, bx = x + (r.x1 - 1) * step_x, ay = y + r.y0 * step_y, by = y + (r.y1 - 1) * step_y;
  return {min(ax, bx), min(ay, by), max(ax, bx) + 1, max(ay, by) + 1};
}

template <class Stage> PS_FN auto region_of(const Stage& s, const Rect& r, int) -> decltype(s.region(r)) {
  return s.region(r);
}
template <class Stage> PS_FN Rect region_of(const Stage&, const Rect& r, long) { return r; }

// The picture that a fused kernel begins with. N channels are read at a time; kDense: they are neighbours, and so are
// pixels.
template <class T, int N, bool kDense> struct Source {
  const T* data;
  Strides stride;
  static constexpr int kChannels = N;
  static constexpr bool kTiled = false;
  using Type = T;
  PS_FN Vec<T, N> at(int x, int y, int c) const {
    Vec<T, N> pixel;
    const T* p = data + (y * stride.y + (kDense ? x * N : x * stride.x + c * stride.c));
    PS_UNROLL
    for (int i = 0; i < N; i++) pixel[i] = p[kDense ? i : i * stride.c];
    return pixel;
  }
};

template <class T> struct Target {
  T* data;
  Strides stride;
};

// A stage's fields, for a thread's pixels: in registers. Where channels come one by one, those of each are looked up,
// which registers can't do.
template <class Stage, bool kCopied> struct Fields { using type = Stage; };
template <class Stage> struct Fields<Stage, false> { using type = const Stage&; };

// A stage and all above it.
template <class Up, class Stage> struct Fused {
  Up up;
  typename Fields<Stage, (Up::kChannels > 1)>::type stage;
  static constexpr int kChannels = Up::kChannels;
  static constexpr bool kTiled = Up::kTiled;
  PS_FN auto at(int x, int y, int c) const { return stage.at(up, x, y, c); }
  // By the whole block, where kTiled: what this tile needs, and then what rows of it need.
  PS_FN void begin(const Rect& tile) { up.begin(region_of(stage, tile, 0)); }
  PS_FN void load(const Rect& rows) { up.load(region_of(stage, rows, 0)); }
};

inline constexpr int kTile = 32, kPictureThreads = 256, kTiledThreads = 128;

// Precedes the stages' fields in a job, each of which starts at a multiple of 16 bytes.
struct PictureJob {
  const void* in;
  void* out;
  Strides in_stride, out_stride;
  int32_t width, height, channels, frames;    // of the output
  int32_t step;                               // rows of a tile done at a time, where a stage is tiled
  int32_t staged;                             // where device/jpeg/decoded.h has its shared memory
  Divisor groups;                             // of pixels in a row, for device/picture/rows.h
};

PS_FN constexpr int padded(int bytes) { return (bytes + 15) / 16 * 16; }

#if !PS_HOST
template <class... Stages> struct Build;
template <> struct Build<> {
  template <class Up> static PS_FN auto fuse(const Up& up, const unsigned char*) { return up; }
};
template <class First, class... Rest> struct Build<First, Rest...> {
  template <class Up> static PS_FN auto fuse(const Up& up, const unsigned char* fields) {
    const auto& stage = *reinterpret_cast<const First*>(fields);
    return Build<Rest...>::fuse(Fused<Up, First>{up, stage}, fields + padded(sizeof(First)));
  }
};

// The pixels of a rectangle of the output, by the whole block.
template <class To, class C> PS_FN void run_pixels(const C& fused, const Rect& r, const PictureJob& job, To* out) {
  constexpr int N = C::kChannels;
  const Strides to = job.out_stride;
  const int channels = job.channels;
  PS_LOOP
  for (int i = thread(); i < kTile * (r.y1 - r.y0); i += threads()) {
    const int x = r.x0 + i % kTile, y = r.y0 + i / kTile;
    if (x >= r.x1) continue;
    for (int c = 0; c < channels; c += N) {
      const auto pixel = fused.at(x, y, c);
      To* p = out + (x * to.x + y * to.y + c * to.c);
      PS_UNROLL
      for (int k = 0; k < N; k++)
        if (c + k < channels) p[k * to.c] = convert<To>(pixel[k]);
    }
  }
}

template <class From, class To, int N, bool kDense, class... Stages> PS_FN void run_picture(const Launch& l) {
  const int sample = find_sample(l);
  const unsigned char* fields = l.jobs + int64_t(l.stride) * sample;
  const PictureJob& job = *reinterpret_cast<const PictureJob*>(fields);
  const int across = (job.width + kTile - 1) / kTile, down = (job.height + kTile - 1) / kTile;
  const int number = block() - l.first_block[sample];
  const int frame = number / (across * down), tile = number % (across * down);
  const int x0 = tile % across * kTile, y0 = tile / across * kTile;
  const Rect all{x0, y0, min(x0 + kTile, job.width), min(y0 + kTile, job.height)};

  const Source<From, N, kDense> source{on_gpu(static_cast<const From*>(job.in) + frame * job.in_stride.frame),
                                       job.in_stride};
  const auto fused = Build<Stages...>::fuse(source, fields + padded(sizeof(PictureJob)));
  run_pixels(fused, all, job, on_gpu(static_cast<To*>(job.out) + frame * job.out_stride.frame));
}
#define PS_PICTURE_KERNEL(...) \
  PS_KERNEL kernel(ps::device::Launch launch) { ps::device::run_picture<__VA_ARGS__>(launch); }
#endif

}  // namespace ps::device
