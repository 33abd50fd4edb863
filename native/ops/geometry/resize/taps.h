// The weights of separable resampling: which input samples make an output sample along one axis, and how much of each.
//
// An output sample x lies at lo + (x + 0.5) * scale in the input, where scale = (hi - lo) / out and lo > hi mirrors.
// A filter of radius r (of 1 input sample, or of 1 output sample when antialiasing stretches it) is centred there. As
// in DALI, filters are tables with linear interpolation between entries, all arithmetic of positions is in float, and
// samples outside the input repeat the border: their weight is added to the border's, so no loop here or in the
// passes ever needs to clamp an index.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "penstock.h"

namespace ps {

enum class Interp : int32_t {
  nearest = PS_INTERP_NN, linear = PS_INTERP_LINEAR, cubic = PS_INTERP_CUBIC, lanczos3 = PS_INTERP_LANCZOS3,
  triangular = PS_INTERP_TRIANGULAR, gaussian = PS_INTERP_GAUSSIAN,
};

struct ResampleAxis {
  int64_t in = 0, out = 0;
  float lo = 0, hi = 0;   // the region of the input that fills the output
  Interp filter = Interp::linear;
  bool antialias = true;
  bool summed = false;    // nearest: positions are found by adding up the scale, as DALI does from row to row
  bool operator==(const ResampleAxis&) const = default;
  bool flipped() const { return hi < lo; }
};

// A window function over [-radius, radius], sampled at `size` points; zero outside.
struct FilterTable {
  float radius = 1;
  std::vector<float> at;
  template <class F> FilterTable(float r, int size, F f) : radius(r), at(size_t(size)) {
    for (int i = 0; i < size; i++) at[size_t(i)] = float(f((2.0 * i / (size - 1) - 1) * r));
  }
  float operator()(float x) const {
    const int n = int(at.size());
    if (!(x > -1) || x >= float(n)) return 0;
    const float floor = std::floor(x), part = x - floor;
    const int i = int(floor);
    const float a = i < 0 ? 0 : at[size_t(i)], b = i + 1 >= n ? 0 : at[size_t(i + 1)];
    return a + part * (b - a);
  }
};

inline const FilterTable& filter_table(Interp filter) {
  static const FilterTable triangle(1, 3, [](double x) { return 1 - std::abs(x); });
  static const FilterTable cubic(2, 129, [](double x) {   // Catmull-Rom: Keys' cubic with a = -1/2
    x = std::abs(x);
    return x <= 1 ? (1.5 * x - 2.5) * x * x + 1 : ((-0.5 * x + 2.5) * x - 4) * x + 2;
  });
  static const FilterTable lanczos(3, 193, [](double x) {
    const double t = M_PI * x;
    return std::abs(x) < 1e-9 ? 1 : std::abs(x) > 3 - 1e-9 ? 0 : 3 * std::sin(t) * std::sin(t / 3) / (t * t);
  });
  static const FilterTable gauss(1, 65, [](double x) { return std::exp(-4 * x * x); });
  switch (filter) {
    case Interp::cubic: return cubic;
    case Interp::lanczos3: return lanczos;
    case Interp::gaussian: return gauss;
    default: return triangle;
  }
}

// What the taps of an axis are computed from. Output x is filtered from `window` input samples, the first of which is
// base + ceil(x * scale + start); they are `step` table entries apart. Nearest: see Taps::nearest().
struct TapsGeometry {
  float scale = 0, start = 0, step = 0, base = 0;
  int window = 1;

  explicit TapsGeometry(const ResampleAxis& a) {
    scale = (a.hi - a.lo) / float(a.out);
    const float lower = std::floor(std::min(a.lo, a.hi));
    if (a.filter == Interp::nearest) {
      base = a.summed ? std::max(0.0f, lower) : 0;
      start = a.summed ? (a.lo - base) + 0.5f * scale : a.lo;
      return;
    }
    const FilterTable& filter = filter_table(a.filter);
    const float stretch = a.antialias ? std::max(1.0f, std::abs(scale)) : 1.0f;
    const float entries = float(filter.at.size() - 1);
    float support = 2 * filter.radius * stretch;
    if (a.filter == Interp::gaussian) support = gaussian_support(stretch, entries);
    step = entries / support;
    // Where samples repeat, positions count from the region's start and so lose fewer bits. (As in DALI: 16-bit data
    // would show a difference.)
    base = std::abs(scale) < 1 ? std::max(0.0f, lower - filter.radius) : 0;
    start = (a.lo - base) + 0.5f * scale - 0.5f - support / 2;
    window = int(std::ceil(support));
  }

 private:
  // A Gaussian is cut off where it is not yet zero, so the last bit of its support can decide what is inside. These are
  // DALI's roundings, through a standard deviation of radius / sqrt(8).
  static float gaussian_support(float radius, float entries) {
    const float sigma = radius * (0.5f / std::sqrt(2.0f)), step = entries / (sigma * (4 * std::sqrt(2.0f)));
    return entries / step;
  }
};

// Output x is the sum over k < n[x] of weight[x * count + k] * input[first[x] + k]; all indices are within the input.
class Taps {
 public:
  ResampleAxis axis;
  int count = 0;              // the most taps that any output has
  bool nonnegative = true;
  bool copies = false;        // every output is one input sample, unchanged
  bool shifts = false;        // copies, of neighbours side by side
  std::vector<int32_t> first, n;
  std::vector<float> weight;

  // Returns false when the axis is that of the last call: what was made from these taps still holds.
  bool build(const ResampleAxis& a) {
    if (a == axis && !first.empty()) return false;
    axis = a;
    first.resize(size_t(a.out));
    n.resize(size_t(a.out));
    nonnegative = copies = true;
    if (a.filter == Interp::nearest) nearest(); else windowed();
    shifts = copies;
    for (size_t x = 1; x < first.size(); x++) shifts = shifts && first[x] == first[x - 1] + 1;
    return true;
  }

 private:
  // Added up from row to row and from slice to slice, as DALI does.
  void nearest() {
    const TapsGeometry g(axis);
    count = 1;
    weight.assign(size_t(axis.out), 1.0f);
    float sum = g.start;
    for (int64_t x = 0; x < axis.out; x++, sum += g.scale) {
      first[size_t(x)] =
          clamp(axis.summed ? std::floor(sum) + g.base : std::floor((float(x) + 0.5f) * g.scale + g.start));
      n[size_t(x)] = 1;
    }
  }

  int32_t clamp(float i) const { return int32_t(std::clamp(i, 0.0f, float(axis.in - 1))); }

  void windowed() {
    const FilterTable& filter = filter_table(axis.filter);
    const TapsGeometry g(axis);
    const int window = g.window, most = int(std::min<int64_t>(window, axis.in));
    const bool triangle = filter.at.size() == 3;
    raw_.resize(size_t(window));
    weight.assign(size_t(axis.out) * size_t(most), 0.0f);
    count = 0;
    for (int64_t x = 0; x < axis.out; x++) {
      const float from = float(x) * g.scale + g.start, top = std::ceil(from), shift = (top - from) * g.step;
      float sum = 0;
      for (int k = 0; k < window; k++) {
        const float t = float(k) * g.step + shift;
        raw_[size_t(k)] = triangle ? std::max(0.0f, 1 - std::abs(t - 1)) : filter(t);
        sum += raw_[size_t(k)];
      }
      fold(x, top + g.base, window, most, 1 / sum);
    }
    if (count < most) {   // close up the rows
      for (int64_t x = 1; x < axis.out; x++) std::copy_n(&weight[size_t(x * most)], count, &weight[size_t(x * count)]);
    }
  }

  // Moves what lies outside the input to its border, and drops zeros at both ends.
  void fold(int64_t x, float top, int window, int most, float norm) {
    float* w = &weight[size_t(x * most)];
    const int32_t begin = clamp(top);
    for (int k = 0; k < window; k++) w[clamp(top + float(k)) - begin] += raw_[size_t(k)] * norm;
    int32_t a = 0, b = clamp(top + float(window - 1)) - begin + 1;
    while (b > 1 && w[b - 1] == 0) b--;
    while (a < b - 1 && w[a] == 0) a++;
    if (a > 0) { std::copy(w + a, w + b, w); std::fill(w + b - a, w + b, 0.0f); }
    first[size_t(x)] = begin + a;
    n[size_t(x)] = b - a;
    count = std::max(count, b - a);
    copies = copies && b - a == 1 && w[0] == 1.0f;
    for (int k = 0; k < b - a; k++) nonnegative = nonnegative && w[k] >= 0;
  }

  std::vector<float> raw_;
};

}  // namespace ps
