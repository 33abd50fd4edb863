// What writes the rows of affine warps, for all types: warp_rows() (source.h), for the units that compile it.
#pragma once

#include "ops/geometry/warp/rows.h"
#include "ops/geometry/warp/types.h"

namespace ps {

namespace detail {

template <class Out, bool kNearest, int D, class Pixels>
void write_warped(const device::AffineMatrix<D>& matrix, const Pixels& pixels, int channels, const WarpPlace& place,
                  uint8_t* const* to) {
  WarpWalk<D> walk(matrix, place.z, place.y, place.x0);
  WarpPositions<D> positions;
  Out* at[kWarpRows];
  for (int r = 0; r < place.count; r++) at[r] = reinterpret_cast<Out*>(to[r]);
  for (int64_t x = place.x0; x < place.x1;) {
    const int64_t n = walk.template next<kNearest>(place.x1 - x, positions);
    pixels.run(positions, n, place.count, at);
    for (int r = 0; r < place.count; r++) at[r] += n * channels;
    x += n;
  }
}

template <class In, class Out, bool kNearest, int D, int C>
void warp(const device::AffineMatrix<D>& matrix, const WarpSource& source, const WarpPlace& place,
          uint8_t* const* to) {
  const int channels = source.channels;
#if defined(__AVX2__)
  if constexpr (D == 2 && C > 0 && sizeof(In) == 1 && !kNearest) {
    using Bytes = WarpBytes<Out, C>;
    if (Bytes::fits(source)) return write_warped<Out, kNearest>(matrix, Bytes(source), channels, place, to);
  }
#endif
  write_warped<Out, kNearest>(matrix, WarpPixels<In, Out, kNearest, D, C>(source), channels, place, to);
}

}  // namespace detail

template <int D, bool kNearest> WarpRows<D> warp_rows(DType from, DType to, int channels) {
  return visit_warp(from, to, [&](auto f, auto t) -> WarpRows<D> {
    using In = typename decltype(f)::type;
    using Out = typename decltype(t)::type;
    switch (channels) {
      case 1: return detail::warp<In, Out, kNearest, D, 1>;
      case 3: return detail::warp<In, Out, kNearest, D, 3>;
      case 4: return detail::warp<In, Out, kNearest, D, 4>;
      default: return detail::warp<In, Out, kNearest, D, 0>;
    }
  });
}

}  // namespace ps
