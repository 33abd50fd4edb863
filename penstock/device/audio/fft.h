// Fourier transforms of real numbers: mixed radix in the order of Stockham, and Bluestein's chirps where the length has
// a large prime factor. V is what is computed with: a float on the GPU, and one float of each of several windows, side
// by side, on the CPU. Both run the same butterflies in the same order, so they give the same bits.
#pragma once

#include "device/base/base.h"

namespace ps::device {

template <class V> struct Complex {
  V re, im;
};
using Pair = Complex<float>;

template <class V> PS_FN Complex<V> operator+(Complex<V> a, Complex<V> b) { return {a.re + b.re, a.im + b.im}; }
template <class V> PS_FN Complex<V> operator-(Complex<V> a, Complex<V> b) { return {a.re - b.re, a.im - b.im}; }
template <class V> PS_FN Complex<V> operator*(Complex<V> a, Complex<V> b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
template <class V> PS_FN Complex<V> operator*(Complex<V> a, V f) { return {a.re * f, a.im * f}; }
template <class V> PS_FN Complex<V> conjugate(Complex<V> a) { return {a.re, V(0.0f) - a.im}; }
template <class V> PS_FN Complex<V> turned(Complex<V> a) { return {a.im, V(0.0f) - a.re}; }   // by -i
template <class V> PS_FN Complex<V> repeated(Pair w) { return {V(w.re), V(w.im)}; }
PS_FN float square_root(float v) { return ::sqrtf(v); }

inline constexpr int kFftStages = 32, kLargestRadix = 31;

// How `n` real numbers are transformed. The tables of numbers lie one behind the other.
struct FftPlan {
  int32_t n;                           // real numbers
  int32_t points;                      // complex ones that are made of them: n / 2 where n is even
  int32_t length;                      // of the transform: `points`, or more where `chirped`
  int32_t chirped;
  int32_t stages, radix[kFftStages];
  int32_t roots_at, chirp_at, filter_at;
  const Pair* tables;

  PS_FN bool even() const { return n % 2 == 0; }
  PS_FN int32_t bins() const { return n / 2 + 1; }
};

// One butterfly of a stage: `m` groups whose numbers are `s` apart. Twiddles of group p come behind those of p - 1; a
// radix without code of its own has its roots of unity before them.
template <int R> struct Butterfly {
  template <class V> PS_FN static void of(Complex<V>* a) {
    if constexpr (R == 2) {
      const Complex<V> b = a[1];
      a[1] = a[0] - b, a[0] = a[0] + b;
    } else if constexpr (R == 3) {
      const V half(-0.5f), sine(0.866025403784438647f);
      const Complex<V> sum = a[1] + a[2], side = turned(a[1] - a[2]) * sine, mean = a[0] + sum * half;
      a[0] = a[0] + sum, a[1] = mean + side, a[2] = mean - side;
    } else if constexpr (R == 4) {
      const Complex<V> s02 = a[0] + a[2], d02 = a[0] - a[2], s13 = a[1] + a[3], d13 = turned(a[1] - a[3]);
      a[0] = s02 + s13, a[1] = d02 + d13, a[2] = s02 - s13, a[3] = d02 - d13;
    } else {
      static_assert(R == 5);
      const V c1(0.309016994374947424f), c2(-0.809016994374947424f);
      const V s1(0.951056516295153572f), s2(0.587785252292473129f);
      const Complex<V> s14 = a[1] + a[4], s23 = a[2] + a[3], d14 = turned(a[1] - a[4]), d23 = turned(a[2] - a[3]);
      const Complex<V> near = a[0] + s14 * c1 + s23 * c2, far = a[0] + s14 * c2 + s23 * c1;
      const Complex<V> near_side = d14 * s1 + d23 * s2, far_side = d14 * s2 - d23 * s1;
      a[0] = a[0] + s14 + s23;
      a[1] = near + near_side, a[2] = far + far_side, a[3] = far - far_side, a[4] = near - near_side;
    }
  }
};

// The twiddles of one group, as often as V holds numbers.
template <class V, int R> struct Twiddles {
  Complex<V> w[R - 1];
  PS_FN Twiddles(const Pair* table, int p) {
    PS_UNROLL
    for (int k = 0; k < R - 1; k++) w[k] = repeated<V>(table[p * (R - 1) + k]);
  }
};

template <int R, class V>
PS_FN void fft_step(const Complex<V>* x, Complex<V>* y, int m, int s, int p, int q, const Twiddles<V, R>* twiddles) {
  Complex<V> a[R];
  PS_UNROLL
  for (int i = 0; i < R; i++) a[i] = x[q + s * (p + m * i)];
  Butterfly<R>::of(a);
  y[q + s * R * p] = a[0];
  PS_UNROLL
  for (int k = 1; k < R; k++) y[q + s * (R * p + k)] = twiddles ? a[k] * twiddles->w[k - 1] : a[k];
}

// Of any radix, straight from the definition.
template <class V>
PS_FN void fft_step_of(int r, const Complex<V>* x, Complex<V>* y, int m, int s, int p, int q, const Pair* table) {
  const Pair* twiddles = table + r + p * (r - 1);
  for (int k = 0; k < r; k++) {
    Complex<V> sum = x[q + s * p];
    for (int i = 1, at = k; i < r; i++, at += k) {
      if (at >= r) at -= r;
      sum = sum + x[q + s * (p + m * i)] * repeated<V>(table[at]);
    }
    if (k && m > 1) sum = sum * repeated<V>(twiddles[k - 1]);
    y[q + s * (r * p + k)] = sum;
  }
}

PS_FN bool has_butterfly(int radix) { return radix <= 5; }
// Numbers in the tables of a stage.
PS_FN int stage_tables(int radix, int m) { return m * (radix - 1) + (has_butterfly(radix) ? 0 : radix); }

// What is done to a complex number before, between and behind the two transforms of Bluestein's.
template <class V> PS_FN Complex<V> chirp_in(const FftPlan& f, const Complex<V>* x, int i) {
  return i < f.points ? x[i] * repeated<V>(f.tables[f.chirp_at + i]) : Complex<V>{V(0.0f), V(0.0f)};
}
template <class V> PS_FN Complex<V> chirp_between(const FftPlan& f, Complex<V> x, int i) {
  return conjugate(x * repeated<V>(f.tables[f.filter_at + i]));
}
template <class V> PS_FN Complex<V> chirp_out(const FftPlan& f, Complex<V> x, int i) {
  return conjugate(x) * repeated<V>(f.tables[f.chirp_at + i]);
}

// Bins k and n / 2 - k of the real numbers that z is the transform of, with k up to n / 4. Where n is odd, bin k alone.
template <class V> struct Bins {
  Complex<V> low, high;
};
template <class V> PS_FN Bins<V> real_bins(const FftPlan& f, const Complex<V>* z, int k) {
  if (!f.even()) return {z[k], z[k]};
  const Complex<V> a = z[k], b = conjugate(z[k ? f.points - k : 0]);
  const V half(0.5f);
  const Complex<V> even = (a + b) * half;
  const Complex<V> odd = turned((a - b) * half) * repeated<V>(f.tables[f.roots_at + k]);
  return {even + odd, conjugate(even - odd)};
}
// How many of these are to be asked for.
PS_FN int bin_pairs(const FftPlan& f) { return f.even() ? f.points / 2 + 1 : f.bins(); }

template <class V> PS_FN V bin_power(Complex<V> bin, int power) {
  const V square = bin.re * bin.re + bin.im * bin.im;
  return power == 2 ? square : square_root(square);
}

#if !PS_HOST
// By a block together: `windows` transforms whose numbers lie `length` apart, from x to y and back. Returns which of
// both has the result.
template <int R> PS_FN void run_stage(const Pair* x, Pair* y, int n, int windows, int m, int s, const Pair* table) {
  for (int v = thread(); v < windows * m * s; v += threads()) {
    const int window = v / (m * s), rest = v - window * m * s, p = rest / s, q = rest - p * s;
    const Twiddles<float, R> twiddles(table, p);
    fft_step<R>(x + window * n, y + window * n, m, s, p, q, m > 1 ? &twiddles : nullptr);
  }
}
PS_FN Pair* run_stages(const FftPlan& f, Pair* x, Pair* y, int windows) {
  const int n = f.length;
  const Pair* table = f.tables;
  for (int i = 0, s = 1, m = n; i < f.stages; i++) {
    const int r = f.radix[i];
    m /= r;
    if (r == 2) run_stage<2>(x, y, n, windows, m, s, table);
    else if (r == 3) run_stage<3>(x, y, n, windows, m, s, table);
    else if (r == 4) run_stage<4>(x, y, n, windows, m, s, table);
    else if (r == 5) run_stage<5>(x, y, n, windows, m, s, table);
    else
      for (int v = thread(); v < windows * m * s; v += threads()) {
        const int window = v / (m * s), rest = v - window * m * s, p = rest / s;
        fft_step_of(r, x + window * n, y + window * n, m, s, p, rest - p * s, table);
      }
    sync();
    table += stage_tables(r, m);
    s *= r;
    Pair* other = x;
    x = y, y = other;
  }
  return x;
}
// x holds the real numbers of each window: side by side where n is even, as real parts where it is odd.
PS_FN Pair* run_fft(const FftPlan& f, Pair* x, Pair* y, int windows) {
  if (!f.chirped) return run_stages(f, x, y, windows);
  const int n = f.length;
  for (int v = thread(); v < windows * n; v += threads()) {
    const int window = v / n;
    x[v] = chirp_in(f, x + window * n, v - window * n);
  }
  sync();
  Pair* z = run_stages(f, x, y, windows);
  for (int v = thread(); v < windows * n; v += threads()) z[v] = chirp_between(f, z[v], v % n);
  sync();
  z = run_stages(f, z, z == x ? y : x, windows);
  for (int v = thread(); v < windows * n; v += threads())
    if (v % n < f.points) z[v] = chirp_out(f, z[v], v % n);
  sync();
  return z;
}
#endif

}  // namespace ps::device
