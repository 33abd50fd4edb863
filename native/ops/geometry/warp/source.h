// What affine warps on the CPU read, and how a few rows of the output are asked for.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/tensor.h"
#include "device/geometry/warp.h"

namespace ps {

inline constexpr int kWarpRows = 8;                  // of the output at a time

// What is read. Pixels are there from `lo` to `hi` only, in x, y and z: a part of the picture that is large enough.
struct WarpSource {
  const uint8_t* data = nullptr;       // pixel `lo`
  int64_t pixel = 0, row = 0, plane = 0;          // bytes from one to the next
  int32_t lo[3] = {}, hi[3] = {};      // inclusive
  int32_t size[3] = {};                // of the whole picture
  int channels = 0;
  bool clamp = false;                  // beyond the border: the nearest pixel, or else `fill`
  const uint8_t* fill = nullptr;       // a pixel; with 16 bytes behind it that can be read
  size_t bytes = 0;                    // that can be read from `data` on
};

// Pixels x0 to x1 (exclusive) of so many rows, at most kWarpRows, from row y of plane z on.
struct WarpPlace {
  int64_t z, y;
  int count;
  int64_t x0, x1;
};
template <int D>
using WarpRows = void (*)(const device::AffineMatrix<D>&, const WarpSource&, const WarpPlace&, uint8_t* const* to);

// What writes the rows, for these types and so many channels: pixels of pictures (D = 2) or volumes (D = 3). Each is
// compiled in a unit of its own.
template <int D, bool kNearest> WarpRows<D> warp_rows(DType from, DType to, int channels);

}  // namespace ps
