#include "decode/channels.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <type_traits>

namespace ps {
namespace {

template <class T, Luma kLuma = Luma::floats> T weighed(T r, T g, T b) {
  if constexpr (!std::is_floating_point_v<T> && kLuma == Luma::bits14) {
    return T((4899u * r + 9617u * g + 1868u * b + (1u << 13)) >> 14);
  } else if constexpr (!std::is_floating_point_v<T> && kLuma == Luma::bits15) {
    return T((9798u * r + 19235u * g + 3735u * b + (1u << 14)) >> 15);
  } else if constexpr (!std::is_floating_point_v<T> && kLuma == Luma::libpng) {
    return luma(r, g, b);
  } else {
    const float sum = 0.299f * float(r) + 0.587f * float(g) + 0.114f * float(b);
    return std::is_floating_point_v<T> ? T(sum) : T(sum + 0.5f);
  }
}

// Light that inks leave over.
template <class T> T through_ink(T ink, T black) {
  if constexpr (std::is_floating_point_v<T>) {
    return (1 - ink) * (1 - black);
  } else {
    constexpr uint32_t full = std::numeric_limits<T>::max();
    return T((full - ink) * (full - black) / full);
  }
}

template <class T> void copy_row(const void* from, void* to, int64_t width, int stored) {
  std::memcpy(to, from, size_t(width) * size_t(stored) * sizeof(T));
}

// N: the stored channels where they are known to the compiler, otherwise 0.
template <class T, int N> void first_row(const void* from, void* to, int64_t width, int stored) {
  const T* __restrict f = static_cast<const T*>(from);
  T* __restrict t = static_cast<T*>(to);
  const int64_t n = N ? N : stored;
  for (int64_t x = 0; x < width; x++) t[x] = f[n * x];
}

template <class T, int N> void repeat_row(const void* from, void* to, int64_t width, int stored) {
  const T* __restrict f = static_cast<const T*>(from);
  T* __restrict t = static_cast<T*>(to);
  const int64_t n = N ? N : stored;
  for (int64_t x = 0; x < width; x++) t[3 * x] = t[3 * x + 1] = t[3 * x + 2] = f[n * x];
}

template <class T, int N, bool kSwap> void three_row(const void* from, void* to, int64_t width, int stored) {
  const T* __restrict f = static_cast<const T*>(from);
  T* __restrict t = static_cast<T*>(to);
  const int64_t n = N ? N : stored;
  for (int64_t x = 0; x < width; x++) {
    const T* p = f + n * x;
    t[3 * x] = p[kSwap ? 2 : 0];
    t[3 * x + 1] = p[1];
    t[3 * x + 2] = p[kSwap ? 0 : 2];
  }
}

template <class T, int N, bool kSwap, Luma kLuma> void luma_row(const void* from, void* to, int64_t width, int stored) {
  const T* __restrict f = static_cast<const T*>(from);
  T* __restrict t = static_cast<T*>(to);
  const int64_t n = N ? N : stored;
  for (int64_t x = 0; x < width; x++) {
    const T* p = f + n * x;
    t[x] = weighed<T, kLuma>(p[kSwap ? 2 : 0], p[1], p[kSwap ? 0 : 2]);
  }
}

template <class T, ImageType kType> void cmyk_row(const void* from, void* to, int64_t width, int stored) {
  const T* __restrict f = static_cast<const T*>(from);
  T* __restrict t = static_cast<T*>(to);
  for (int64_t x = 0; x < width; x++) {
    const T* p = f + stored * x;
    const T r = through_ink(p[0], p[3]), g = through_ink(p[1], p[3]), b = through_ink(p[2], p[3]);
    if constexpr (kType == ImageType::gray) {
      t[x] = weighed(r, g, b);
    } else {
      t[3 * x] = kType == ImageType::bgr ? b : r;
      t[3 * x + 1] = g;
      t[3 * x + 2] = kType == ImageType::bgr ? r : b;
    }
  }
}

// Some stored pixels with their channels in another order: BGR(A) as ANY_DATA.
template <class T> void swap_row(const void* from, void* to, int64_t width, int stored) {
  const T* __restrict f = static_cast<const T*>(from);
  T* __restrict t = static_cast<T*>(to);
  for (int64_t x = 0; x < width; x++, f += stored, t += stored) {
    for (int c = 3; c < stored; c++) t[c] = f[c];
    t[0] = f[2];
    t[1] = f[1];
    t[2] = f[0];
  }
}

}  // namespace

template <class T> ChannelRows::Convert ChannelRows::pick(int stored, Colours colours, ImageType type, Luma luma) {
  const auto by_luma = [&](Convert floats, Convert bits14, Convert bits15, Convert libpng) {
    return luma == Luma::floats ? floats : luma == Luma::bits14 ? bits14 : luma == Luma::bits15 ? bits15 : libpng;
  };
  const auto sized = [&](Convert one, Convert three, Convert four, Convert any) {
    return stored == 1 ? one : stored == 3 ? three : stored == 4 ? four : any;
  };
  const bool gray = type == ImageType::gray;
  if (type == ImageType::any) return colours == Colours::bgr ? swap_row<T> : copy_row<T>;
  if (colours == Colours::gray)
    return gray ? sized(copy_row<T>, first_row<T, 3>, first_row<T, 4>, first_row<T, 0>)
                : sized(repeat_row<T, 1>, repeat_row<T, 3>, repeat_row<T, 4>, repeat_row<T, 0>);
  if (colours == Colours::cmyk)
    return gray                     ? cmyk_row<T, ImageType::gray>
           : type == ImageType::bgr ? cmyk_row<T, ImageType::bgr>
                                    : cmyk_row<T, ImageType::rgb>;
  const bool swap = colours == Colours::bgr;
  if (gray) {
#define PS_BY_LUMA(n, swap)                                                                     \
  by_luma(luma_row<T, n, swap, Luma::floats>, luma_row<T, n, swap, Luma::bits14>,               \
          luma_row<T, n, swap, Luma::bits15>, luma_row<T, n, swap, Luma::libpng>)
    return swap ? sized(nullptr, PS_BY_LUMA(3, true), PS_BY_LUMA(4, true), PS_BY_LUMA(0, true))
                : sized(nullptr, PS_BY_LUMA(3, false), PS_BY_LUMA(4, false), PS_BY_LUMA(0, false));
#undef PS_BY_LUMA
  }
  return swap != (type == ImageType::bgr)
             ? sized(nullptr, three_row<T, 3, true>, three_row<T, 4, true>, three_row<T, 0, true>)
             : sized(nullptr, copy_row<T>, three_row<T, 4, false>, three_row<T, 0, false>);
}

void ChannelRows::begin(DType type, int stored, Colours colours, const PictureRequest& request, RowSink& sink,
                        Luma luma) {
  sink_ = &sink;
  stored_ = stored;
  width_ = request.window.width();
  convert_ = type == DType::u8    ? pick<uint8_t>(stored, colours, request.type, luma)
             : type == DType::u16 ? pick<uint16_t>(stored, colours, request.type, luma)
                                  : pick<float>(stored, colours, request.type, luma);
  const size_t bytes = size_t(width_) * size_t(std::max(stored, 3)) * size_of(type) + kRowSlack;
  if (row_.size() < bytes) row_.resize(bytes);
}

void ChannelRows::push(int64_t y, const void* row) {
  void* to = sink_->place(y);
  if (!to) to = row_.data();
  convert_(row, to, width_, stored_);
  sink_->push(y, to);
}

}  // namespace ps
