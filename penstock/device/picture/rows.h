// The fused kernel (device/picture/picture.h) for stages each of whose pixels needs one pixel of the input: crops,
// flips, colours, normalizing. There is little to compute, so what counts is how few instructions move a pixel: a
// thread does four neighbours at a time, which it loads and stores as words where they lie so.
#pragma once

#include "device/picture/picture.h"

namespace ps::device {

inline constexpr int kGroup = 4, kGroupsPerBlock = 2048;

template <class Pixel> struct Group {
  Pixel v[kGroup];
};

// One pixel in place of all above a stage. Where channels come one by one, a stage may ask for other ones too.
template <class Up, class Pixel> struct Given {
  const Up& up;
  Pixel pixel;
  int channel;
  static constexpr int kChannels = Up::kChannels;
  PS_FN Pixel at(int x, int y, int c) const {
    if constexpr (kChannels == 1)
      if (c != channel) return up.at(x, y, c);
    return pixel;
  }
};

template <class T> struct alignas(sizeof(T) * kGroup) Word {
  T v[kGroup];
};

#if !PS_HOST
// N words of bytes that begin so many bytes behind the first of these words. Reads no others than they lie in.
template <class T, int N> PS_FN void unpack_words(const uint32_t* words, int before, T* to) {
  const int skipped = 8 * before;      // bits
  uint32_t word = words[0];
  PS_UNROLL
  for (int i = 0; i < N; i++) {
    uint32_t next = 0;
    if (i + 1 < N || skipped) next = words[i + 1];
    const auto four = uint32_t((uint64_t(next) << 32 | word) >> skipped);
    PS_UNROLL
    for (int k = 0; k < 4; k++) to[4 * i + k] = T(four >> (8 * k) & 255);
    word = next;
  }
}
template <class T, int N> PS_FN void load_words(const T* from, T* to) {
  const int before = int(reinterpret_cast<uint64_t>(from) % 4);
  unpack_words<T, N>(on_gpu(reinterpret_cast<const uint32_t*>(from - before)), before, to);
}

// Pixels x to x + 3 of row y.
template <class T, int N, bool kDense> PS_FN auto group_at(const Source<T, N, kDense>& s, int x, int y, int c) {
  Group<Vec<T, N>> pixels;
  if constexpr (kDense && sizeof(T) == 1) {
    T elements[kGroup * N];
    load_words<T, N>(s.data + (y * s.stride.y + x * N), elements);
    PS_UNROLL
    for (int i = 0; i < kGroup * N; i++) pixels.v[i / N][i % N] = elements[i];
  } else {
    PS_UNROLL
    for (int i = 0; i < kGroup; i++) pixels.v[i] = s.at(x + i, y, c);
  }
  return pixels;
}

template <class Up, class Stage> PS_FN auto group_at(const Fused<Up, Stage>& fused, int x, int y, int c) {
  const Rect all = region_of(fused.stage, Rect{x, y, x + kGroup, y + 1}, 0);
  const bool back = region_of(fused.stage, Rect{x, y, x + 1, y + 1}, 0).x0 != all.x0;    // from right to left
  const auto from = group_at(fused.up, all.x0, all.y0, c);
  using Above = Given<Up, decltype(fused.up.at(x, y, c))>;
  Group<decltype(fused.at(x, y, c))> pixels;
  PS_UNROLL
  for (int i = 0; i < kGroup; i++)
    pixels.v[i] = fused.stage.at(Above{fused.up, back ? from.v[kGroup - 1 - i] : from.v[i], c}, x + i, y, c);
  return pixels;
}

// `here`: how many of the N channels there are.
template <class To, int N, class Pixel>
PS_FN void store_group(const Group<Pixel>& pixels, To* p, const Strides& to, int here) {
  const bool aligned = reinterpret_cast<uint64_t>(p) % sizeof(Word<To>) == 0;
  if (aligned && to.x == 1 && (N == 1 || to.c % kGroup == 0)) {            // planes
    PS_UNROLL
    for (int k = 0; k < N; k++) {
      Word<To> word;
      PS_UNROLL
      for (int i = 0; i < kGroup; i++) word.v[i] = convert<To>(pixels.v[i][k]);
      if (k < here) *reinterpret_cast<Word<To>*>(p + k * to.c) = word;
    }
  } else if (aligned && to.x == N && to.c == 1 && here == N) {             // interleaved
    PS_UNROLL
    for (int k = 0; k < N; k++) {
      Word<To> word;
      PS_UNROLL
      for (int i = 0; i < kGroup; i++) {
        const int element = k * kGroup + i;
        word.v[i] = convert<To>(pixels.v[element / N][element % N]);
      }
      reinterpret_cast<Word<To>*>(p)[k] = word;
    }
  } else {
    PS_UNROLL
    for (int i = 0; i < kGroup; i++) {
      PS_UNROLL
      for (int k = 0; k < N; k++)
        if (k < here) p[i * to.x + k * to.c] = convert<To>(pixels.v[i][k]);
    }
  }
}

// Pixels x to x + 3 of row y, as far as the picture goes, to where they belong in the output.
template <class C, class To>
PS_FN void run_group(const C& fused, int x, int y, int width, int channels, To* out, const Strides& to) {
  constexpr int N = C::kChannels;
  const auto channels_from = [&](int c) {
    To* p = out + (x * to.x + y * to.y + c * to.c);
    const int here = min(channels - c, N);
    if (x + kGroup <= width) return store_group<To, N>(group_at(fused, x, y, c), p, to, here);
    PS_LOOP
    for (int k = 0; k < width - x; k++) {
      const auto pixel = fused.at(x + k, y, c);
      PS_UNROLL
      for (int j = 0; j < N; j++)
        if (j < here) p[k * to.x + j * to.c] = convert<To>(pixel[j]);
    }
  };
  channels_from(0);
  PS_LOOP
  for (int c = N; c < channels; c += N) channels_from(c);
}

template <class From, class To, int N, bool kDense, class... Stages> PS_FN void run_rows(const Launch& l) {
  const int sample = find_sample(l);
  const unsigned char* fields = l.jobs + int64_t(l.stride) * sample;
  const PictureJob& job = *reinterpret_cast<const PictureJob*>(fields);
  const Divisor across = job.groups;                 // of a row
  const int height = job.height, width = job.width, channels = job.channels;
  const int groups = int(across.number()) * height, blocks = (groups + kGroupsPerBlock - 1) / kGroupsPerBlock;
  const int number = block() - l.first_block[sample], frame = job.frames == 1 ? 0 : number / blocks;
  const int begin = (number - frame * blocks) * kGroupsPerBlock, end = min(begin + kGroupsPerBlock, groups);
  const Source<From, N, kDense> source{on_gpu(static_cast<const From*>(job.in) + frame * job.in_stride.frame),
                                       job.in_stride};
  const auto fused = Build<Stages...>::fuse(source, fields + padded(sizeof(PictureJob)));
  To* out = on_gpu(static_cast<To*>(job.out) + frame * job.out_stride.frame);
  const Strides to = job.out_stride;
  PS_LOOP
  for (int i = begin + thread(); i < end; i += threads()) {
    const int y = across.quotient(i), x = (i - y * int(across.number())) * kGroup;
    run_group(fused, x, y, width, channels, out, to);
  }
}
#define PS_ROW_KERNEL(...) \
  PS_KERNEL kernel(ps::device::Launch launch) { ps::device::run_rows<__VA_ARGS__>(launch); }
#endif

}  // namespace ps::device
