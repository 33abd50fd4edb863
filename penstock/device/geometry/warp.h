// Pictures and volumes read at positions that are an affine function of the output's. On the CPU, positions along a row
// are summed up step by step (ops/geometry/warp/rows.h), here each is computed by itself; all else is the same.
#pragma once

#include "device/picture/picture.h"

namespace ps::device {

// A matrix of D rows and D + 1 columns, in the order x, y, z.
template <int D> struct AffineMatrix {
  float v[D * (D + 1)];

  PS_FN float at(int row, int column) const { return v[row * (D + 1) + column]; }
  PS_FN float& at(int row, int column) { return v[row * (D + 1) + column]; }
};

PS_FN float determinant(const AffineMatrix<2>& m) { return m.at(0, 0) * m.at(1, 1) - m.at(0, 1) * m.at(1, 0); }
// The minor without one row and one column, with its sign.
PS_FN float cofactor(const AffineMatrix<3>& m, int row, int column) {
  const int r1 = (row + 1) % 3, r2 = (row + 2) % 3, c1 = (column + 1) % 3, c2 = (column + 2) % 3;
  return m.at(r1, c1) * m.at(r2, c2) - m.at(r1, c2) * m.at(r2, c1);
}
PS_FN float determinant(const AffineMatrix<3>& m) {
  return m.at(0, 0) * cofactor(m, 0, 0) + m.at(0, 1) * cofactor(m, 0, 1) + m.at(0, 2) * cofactor(m, 0, 2);
}

PS_FN void invert_linear_part(const AffineMatrix<2>& m, AffineMatrix<2>& r) {
  const float det = determinant(m);
  r.at(0, 0) = m.at(1, 1) / det, r.at(0, 1) = -m.at(0, 1) / det;
  r.at(1, 0) = -m.at(1, 0) / det, r.at(1, 1) = m.at(0, 0) / det;
}
// By Gauss and Jordan, in the order of operations that gives DALI's last bits, which decide half-way between two
// pixels.
PS_FN void invert_linear_part(AffineMatrix<3> m, AffineMatrix<3>& r) {
  for (int i = 0; i < 3; i++)
    for (int k = 0; k < 3; k++) r.at(i, k) = i == k;
  for (int i = 0; i < 3; i++) {
    int pivot = i;
    for (int row = i + 1; row < 3; row++)
      if (m.at(row, i) * m.at(row, i) > m.at(pivot, i) * m.at(pivot, i)) pivot = row;
    const float unit = 1.0f / m.at(pivot, i);
    for (int k = 0; k < 3; k++) {
      const float a = m.at(pivot, k), b = r.at(pivot, k);
      m.at(pivot, k) = m.at(i, k), r.at(pivot, k) = r.at(i, k);
      m.at(i, k) = a * unit, r.at(i, k) = b * unit;
    }
    for (int row = 0; row < 3; row++) {
      if (row == i) continue;
      const float times = -m.at(row, i);
      for (int k = 0; k < 3; k++) {
        m.at(row, k) = fma(times, m.at(i, k), m.at(row, k));
        r.at(row, k) = fma(times, r.at(i, k), r.at(row, k));
      }
    }
  }
}

// Where the map goes back to. Of a singular matrix it is not finite.
template <int D> PS_FN AffineMatrix<D> inverse(const AffineMatrix<D>& m) {
  AffineMatrix<D> r;
  invert_linear_part(m, r);
  for (int i = 0; i < D; i++) {
    float sum = 0;
    for (int k = 0; k < D; k++) sum = k ? sum + r.at(i, k) * m.at(k, D) : r.at(i, k) * m.at(k, D);
    r.at(i, D) = -sum;
  }
  return r;
}

// Far positions become near enough for integers; so does not-a-number.
PS_FN int whole_position(float v) {
  constexpr float most = 1e9f;
  return int(v > -most ? v < most ? v : most : -most);
}

template <int D> struct WarpFields {
  AffineMatrix<D> matrix;
  const float* there;                  // the matrix in the GPU's memory, instead
  int32_t size[3];                     // of the input: x, y, z
  int32_t invert;                      // whether `there` maps the input to the output
  int32_t clamp;                       // beyond the border: the nearest pixel, or else `fill`
  float fill;

  PS_FN AffineMatrix<D> map() const {
    AffineMatrix<D> m = matrix;
    if (there) {
      for (int i = 0; i < D * (D + 1); i++) m.v[i] = there[i];
      if (invert) m = inverse(m);
    }
    return m;
  }
};

template <int D> struct Position {
  float v[D];
};

template <int D> PS_FN Position<D> source_position(const AffineMatrix<D>& m, const int* to) {
  Position<D> p;
  for (int i = 0; i < D; i++) {
    float v = m.at(i, 0) * 0.5f + m.at(i, D);
    for (int k = 1; k < D; k++) v = m.at(i, k) * (float(to[k]) + 0.5f) + v;
    p.v[i] = v + m.at(i, 0) * float(to[0]);
  }
  return p;
}

// The neighbours below and above a position, and how far it is from the first one.
struct Neighbours {
  int at;
  float part;
  PS_FN explicit Neighbours(float v) {
    const float floor = floorf(v - 0.5f);
    at = whole_position(floor);
    const float rest = v - 0.5f - floor;                   // not-a-number of infinite positions
    part = rest >= 0 ? rest : 0;
  }
};

// Channels of one input pixel as T, or what stands for it beyond the border: that is rounded to Out, and then to T.
template <int N, class T, class Out, class Tap, int D>
PS_FN Vec<T, N> warp_tap(const WarpFields<D>& f, const Tap& tap, int x, int y, int z) {
  const bool inside = uint32_t(x) < uint32_t(f.size[0]) && uint32_t(y) < uint32_t(f.size[1]) &&
                      (D == 2 || uint32_t(z) < uint32_t(f.size[2]));
  Vec<T, N> pixel;
  if (inside || f.clamp) {
    const auto from =
        tap(clamp(x, 0, f.size[0] - 1), clamp(y, 0, f.size[1] - 1), D == 2 ? 0 : clamp(z, 0, f.size[2] - 1));
    PS_UNROLL
    for (int i = 0; i < N; i++) pixel[i] = convert<T>(from[i]);
  } else {
    PS_UNROLL
    for (int i = 0; i < N; i++) pixel[i] = convert<T>(convert<Out>(f.fill));
  }
  return pixel;
}

// tap(x, y, z) gives N channels of type In.
template <class In, class Out, int N, class Tap, int D>
PS_FN Vec<float, N> warp_plane(const WarpFields<D>& f, const Tap& tap, const Neighbours& x, const Neighbours& y,
                               int z) {
  const auto neighbour = [&](int dx, int dy) { return warp_tap<N, In, Out>(f, tap, x.at + dx, y.at + dy, z); };
  const auto a = neighbour(0, 0), b = neighbour(1, 0), c = neighbour(0, 1), d = neighbour(1, 1);
  Vec<float, N> sum;
  PS_UNROLL
  for (int i = 0; i < N; i++) {
    const float rest = 1 - x.part;
    const float upper = convert<float>(a[i]) * rest + convert<float>(b[i]) * x.part;
    const float lower = convert<float>(c[i]) * rest + convert<float>(d[i]) * x.part;
    sum[i] = D == 2 ? upper + (lower - upper) * y.part : upper * (1 - y.part) + lower * y.part;
  }
  return sum;
}

template <class In, class Out, bool kNearest, int N, class Tap, int D>
PS_FN Vec<Out, N> warp_pixel(const WarpFields<D>& f, const Tap& tap, const Position<D>& p) {
  if constexpr (kNearest) {
    int at[3] = {};
    for (int i = 0; i < D; i++) at[i] = whole_position(floorf(p.v[i]));
    return warp_tap<N, Out, Out>(f, tap, at[0], at[1], at[2]);
  } else {
    const Neighbours x(p.v[0]), y(p.v[1]);
    Vec<Out, N> pixel;
    if constexpr (D == 2) {
      const auto sum = warp_plane<In, Out, N>(f, tap, x, y, 0);
      PS_UNROLL
      for (int i = 0; i < N; i++) pixel[i] = convert<Out>(sum[i]);
    } else {
      const Neighbours z(p.v[2]);
      const auto front = warp_plane<In, Out, N>(f, tap, x, y, z.at);
      const auto back = warp_plane<In, Out, N>(f, tap, x, y, z.at + 1);
      PS_UNROLL
      for (int i = 0; i < N; i++) pixel[i] = convert<Out>(front[i] + (back[i] - front[i]) * z.part);
    }
    return pixel;
  }
}

// A stage of pictures.
template <class In, class Out, bool kNearest> struct Warp : WarpFields<2> {
  template <class Up> PS_FN auto at(const Up& up, int x, int y, int c) const {
    const int to[2] = {x, y};
    const auto tap = [&](int sx, int sy, int) { return up.at(sx, sy, c); };
    return warp_pixel<In, Out, kNearest, Up::kChannels>(*this, tap, source_position(this->map(), to));
  }
};

// One picture or volume by itself, channel by channel: frames that have a matrix each, and volumes.
template <int D> struct WarpElementsFields {
  const void* in;
  void* out;
  int32_t width, height, channels;     // of the output; its elements are counted by the kernel
  WarpFields<D> warp;
};

template <class In, class Out, bool kNearest, int D> struct WarpElements : WarpElementsFields<D> {
  PS_FN void element(int64_t i) const {
    const int64_t pixel = i / this->channels, row = pixel / this->width, plane = row / this->height;
    const int c = int(i - pixel * this->channels);
    int to[3] = {int(pixel - row * this->width), int(row - plane * this->height), int(plane)};
    const WarpFields<D>& f = this->warp;
    const In* from = static_cast<const In*>(this->in) + c;
    const auto tap = [&](int x, int y, int z) {
      return Vec<In, 1>{{from[((int64_t(z) * f.size[1] + y) * f.size[0] + x) * this->channels]}};
    };
    static_cast<Out*>(this->out)[i] = warp_pixel<In, Out, kNearest, 1>(f, tap, source_position(f.map(), to))[0];
  }
};

}  // namespace ps::device
