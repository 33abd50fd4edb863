// Axes in another order, by tiles: read along the input's innermost axis, written along the output's.
#pragma once

#include "device/base/divisor.h"

namespace ps::device {

inline constexpr int kTransposeThreads = 256, kTransposeOuterAxes = 10;

// A matrix for each index on the other axes: out[x * to + y] = in[y * from + x]. Steps count elements.
struct TransposeJob {
  const void* in;
  void* out;
  int64_t width, height, from, to;     // 0 <= x < width, 0 <= y < height
  Divisor tile_width, tile_height;
  int64_t tiles_across, tiles;         // of one matrix
  int32_t outer, pitch;                // further axes; elements from one row of a tile to the next
  int64_t extent[kTransposeOuterAxes], step_in[kTransposeOuterAxes], step_out[kTransposeOuterAxes];
};

// What is moved: some numbers that stay together.
template <class T, int N> struct Together {
  T v[N];
};

#if !PS_HOST
template <class T> PS_FN void run_transpose(const Launch& l) {
  PS_SHARED_MEMORY(memory);
  T* tile = reinterpret_cast<T*>(memory);
  const int sample = find_sample(l);
  const auto& job = *reinterpret_cast<const TransposeJob*>(l.jobs + int64_t(l.stride) * sample);
  const int64_t number = block() - l.first_block[sample];
  int64_t matrix = number / job.tiles;
  const int64_t place = number - matrix * job.tiles;
  const T* in = static_cast<const T*>(job.in);
  T* out = static_cast<T*>(job.out);
  for (int k = job.outer - 1; k >= 0; k--) {
    const int64_t above = matrix / job.extent[k], index = matrix - above * job.extent[k];
    in += index * job.step_in[k];
    out += index * job.step_out[k];
    matrix = above;
  }
  const Divisor across = job.tile_width, down = job.tile_height;
  const int64_t x0 = place % job.tiles_across * int64_t(across.number());
  const int64_t y0 = place / job.tiles_across * int64_t(down.number());
  const int width = int(min(int64_t(across.number()), job.width - x0));
  const int height = int(min(int64_t(down.number()), job.height - y0));
  const int elements = int(across.number() * down.number()), pitch = job.pitch;
  in += y0 * job.from + x0;
  out += x0 * job.to + y0;
  for (int i = thread(); i < elements; i += threads()) {
    const int y = across.quotient(i), x = i - y * int(across.number());
    if (x < width && y < height) tile[y * pitch + x] = in[y * job.from + x];
  }
  sync();
  for (int i = thread(); i < elements; i += threads()) {
    const int x = down.quotient(i), y = i - x * int(down.number());
    if (x < width && y < height) out[x * job.to + y] = tile[y * pitch + x];
  }
}
#define PS_TRANSPOSE_KERNEL(...) \
  PS_KERNEL kernel(ps::device::Launch launch) { ps::device::run_transpose<__VA_ARGS__>(launch); }
#endif

}  // namespace ps::device
