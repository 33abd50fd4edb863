// Axes in another order, on the CPU.
#pragma once

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <utility>

#include "ops/tensor/transpose/permutation.h"

namespace ps::detail {

// Something of N bytes to be moved; integers where there are any, since the compiler does not vectorise structs.
template <size_t N> struct Bytes {
  struct type {
    uint8_t b[N];
  };
};
template <> struct Bytes<1> : std::type_identity<uint8_t> {};
template <> struct Bytes<2> : std::type_identity<uint16_t> {};
template <> struct Bytes<4> : std::type_identity<uint32_t> {};
template <> struct Bytes<8> : std::type_identity<uint64_t> {};

// out[x * to + y] = in[y * from + x], in tiles that stay in cache.
template <class T>
void transpose_matrix(const T* __restrict in, T* __restrict out, int64_t nx, int64_t ny, int64_t from, int64_t to) {
  constexpr int64_t tile = 32;
  for (int64_t y0 = 0; y0 < ny; y0 += tile)
    for (int64_t x0 = 0; x0 < nx; x0 += tile) {
      const int64_t y1 = std::min(ny, y0 + tile), x1 = std::min(nx, x0 + tile);
      for (int64_t x = x0; x < x1; x++)
        for (int64_t y = y0; y < y1; y++) out[x * to + y] = in[y * from + x];
    }
}

// Interleaved channels to planes and back: with the number of channels known, the compiler shuffles in registers.
template <int N, class T> void to_planes(const T* __restrict in, T* __restrict out, int64_t n, int64_t to) {
  for (int64_t y = 0; y < n; y++)
    for (int x = 0; x < N; x++) out[x * to + y] = in[y * N + x];
}
template <int N, class T> void from_planes(const T* __restrict in, T* __restrict out, int64_t n, int64_t from) {
  for (int64_t x = 0; x < n; x++)
    for (int y = 0; y < N; y++) out[x * N + y] = in[y * from + x];
}

template <class T> void transpose_plane(const T* in, T* out, int64_t nx, int64_t ny, int64_t from, int64_t to) {
  if (nx == from && nx == 2) return to_planes<2>(in, out, ny, to);
  if (nx == from && nx == 3) return to_planes<3>(in, out, ny, to);
  if (nx == from && nx == 4) return to_planes<4>(in, out, ny, to);
  if (ny == to && ny == 2) return from_planes<2>(in, out, nx, from);
  if (ny == to && ny == 3) return from_planes<3>(in, out, nx, from);
  if (ny == to && ny == 4) return from_planes<4>(in, out, nx, from);
  transpose_matrix(in, out, nx, ny, from, to);
}

template <class T> class Transposer {
 public:
  explicit Transposer(const Permutation& p) : p_(p) {
    for (int i = 0; i < p.n; i++)
      if (p.from[i] == 1) inner_ = i;
  }
  void operator()(const T* in, T* out) const { axis(0, in, out); }

 private:
  void axis(int i, const T* in, T* out) const {
    if (i == inner_) return i == p_.n - 1 ? innermost(in, out) : axis(i + 1, in, out);
    if (i == p_.n - 1) return innermost(in, out);
    for (int64_t k = 0; k < p_.extent[i]; k++) axis(i + 1, in + k * p_.from[i], out + k * p_.to[i]);
  }
  void innermost(const T* in, T* out) const {
    const int last = p_.n - 1;
    if (inner_ == last) std::memcpy(out, in, sizeof(T) * size_t(p_.extent[last]));
    else transpose_plane(in, out, p_.extent[inner_], p_.extent[last], p_.from[last], p_.to[inner_]);
  }

  const Permutation& p_;
  int inner_ = -1;                                   // the input's innermost axis
};

// Calls f with a type of this many bytes.
template <class F> void with_elements(size_t bytes, F f) {
  [&]<size_t... I>(std::index_sequence<I...>) {
    (void)((bytes == I + 1 && (f(Bytes<I + 1>{}), true)) || ...);
  }(std::make_index_sequence<kLargestElement>{});
}

// Axis i of the result is axis perm[i] of the input, which has elements.
inline void transpose(const Tensor& in, const int* perm, void* out) {
  const Permutation p(in.shape, perm, size_of(in.dtype));
  if (p.n == 0) return void(std::memcpy(out, in.data, in.bytes()));
  with_elements(p.element, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const Transposer<T> transposer(p);
    transposer(in.as<T>(), static_cast<T*>(out));
  });
}

}  // namespace ps::detail
