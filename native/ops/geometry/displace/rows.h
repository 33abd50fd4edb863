// Pictures whose pixels are moved one by one, on the CPU: a row of positions, then a row of pixels.
#pragma once

#include <cmath>
#include <cstring>
#include <vector>

#include "core/convert.h"
#include "core/rows.h"
#include "device/geometry/displace.h"

namespace ps {

// The picture that is read.
struct DisplaceSource {
  const uint8_t* data = nullptr;
  size_t stride = 0;                   // bytes from one row to the next
  int64_t width = 0, height = 0;
  int channels = 0;
  const void* fill = nullptr;          // an element that stands beyond the border
};

struct DisplacePositions {
  std::vector<float> x, y;             // of the pixels of a row
};

// Calls f(tag) for the types that moved pixels may have.
template <class F> decltype(auto) visit_displaced(DType t, F&& f) {
  switch (t) {
    case DType::u8: return f(std::type_identity<uint8_t>{});
    case DType::i16: return f(std::type_identity<int16_t>{});
    case DType::i32: return f(std::type_identity<int32_t>{});
    case DType::f32: return f(std::type_identity<float>{});
    default:
      fail(ErrorKind::type, std::string("the input is ") + name_of(t) + ": expected UINT8, INT16, INT32 or FLOAT");
  }
}

using DisplaceRow = void (*)(const DisplaceSource& s, const DisplacePositions& p, int64_t n, void* to);

// C: the number of channels, or 0 for any.
template <class T, bool kNearest, int C>
void displace_row(const DisplaceSource& s, const DisplacePositions& p, int64_t n, void* to) {
  const int channels = C ? C : s.channels;
  const T fill = *static_cast<const T*>(s.fill);
  T* out = static_cast<T*>(to);
  const auto pixel = [&](int x, int y) {
    return reinterpret_cast<const T*>(s.data + size_t(y) * s.stride) + int64_t(x) * channels;
  };
  const auto inside = [&](int x, int y) { return uint64_t(x) < uint64_t(s.width) && uint64_t(y) < uint64_t(s.height); };
  for (int64_t i = 0; i < n; i++, out += channels) {
    if constexpr (kNearest) {
      const int x = device::whole_position(std::floor(p.x[size_t(i)]));
      const int y = device::whole_position(std::floor(p.y[size_t(i)]));
      if (inside(x, y)) {
        const T* from = pixel(x, y);
        for (int c = 0; c < channels; c++) out[c] = from[c];
      } else {
        for (int c = 0; c < channels; c++) out[c] = fill;
      }
    } else {
      const device::Neighbours x(p.x[size_t(i)]), y(p.y[size_t(i)]);
      const float rest = 1 - x.part;
      const auto blend = [&](const T* a, const T* b, const T* c, const T* d) {
        for (int k = 0; k < channels; k++) {
          const float upper = convert<float>(a[k]) * rest + convert<float>(b[k]) * x.part;
          const float lower = convert<float>(c[k]) * rest + convert<float>(d[k]) * x.part;
          out[k] = convert<T>(upper + (lower - upper) * y.part);
        }
      };
      if (x.at >= 0 && y.at >= 0 && x.at + 1 < s.width && y.at + 1 < s.height) {
        const T *upper = pixel(x.at, y.at), *lower = pixel(x.at, y.at + 1);
        blend(upper, upper + channels, lower, lower + channels);
      } else {
        for (int k = 0; k < channels; k++) {
          const auto tap = [&](int tx, int ty) { return convert<float>(inside(tx, ty) ? pixel(tx, ty)[k] : fill); };
          const float upper = tap(x.at, y.at) * rest + tap(x.at + 1, y.at) * x.part;
          const float lower = tap(x.at, y.at + 1) * rest + tap(x.at + 1, y.at + 1) * x.part;
          out[k] = convert<T>(upper + (lower - upper) * y.part);
        }
      }
    }
  }
}

template <bool kNearest> DisplaceRow displace_row_of(DType t, int channels) {
  return visit_displaced(t, [&](auto tag) -> DisplaceRow {
    using T = typename decltype(tag)::type;
    switch (channels) {
      case 1: return displace_row<T, kNearest, 1>;
      case 3: return displace_row<T, kNearest, 3>;
      default: return displace_row<T, kNearest, 0>;
    }
  });
}

}  // namespace ps
