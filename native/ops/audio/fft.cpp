#include "ops/audio/fft.h"

#include <cmath>
#include <cstring>
#include <numbers>
#include <string>
#include <utility>

#include "core/error.h"

namespace ps::audio {
namespace {

using device::Pair;

// exp(-2 pi i k / n), exact to the last bits: the angle is taken from the nearest axis.
std::pair<double, double> root(int64_t k, int64_t n) {
  k %= n;
  const int64_t quarter = (8 * k / n + 1) / 2;
  const int64_t rest = 4 * k - quarter * n;          // from that axis, in quarters of a step
  const double angle = std::numbers::pi / 2 * double(rest) / double(n);
  const double c = std::cos(angle), s = std::sin(angle);
  switch (quarter % 4) {
    case 0: return {c, -s};
    case 1: return {-s, -c};
    case 2: return {-c, s};
    default: return {s, c};
  }
}
Pair rounded(std::pair<double, double> v) { return {float(v.first), float(v.second)}; }

int64_t largest_factor(int64_t n) {
  int64_t largest = 1;
  for (int64_t f = 2; f * f <= n; f++)
    while (n % f == 0) largest = std::max(largest, f), n /= f;
  return std::max(largest, n);
}

// For tables alone, by doubles: `n` is a power of two.
using Exact = std::pair<double, double>;
void transform(std::vector<Exact>& a) {
  const size_t n = a.size();
  std::vector<Exact> b(n);
  for (size_t m = n / 2, s = 1; m; m /= 2, s *= 2) {
    for (size_t p = 0; p < m; p++) {
      const Exact w = root(int64_t(p), int64_t(2 * m));
      for (size_t q = 0; q < s; q++) {
        const Exact u = a[q + s * p], v = a[q + s * (p + m)];
        const Exact d{u.first - v.first, u.second - v.second};
        b[q + s * 2 * p] = {u.first + v.first, u.second + v.second};
        b[q + s * (2 * p + 1)] = {d.first * w.first - d.second * w.second, d.first * w.second + d.second * w.first};
      }
    }
    a.swap(b);
  }
}

}  // namespace

Fft::Fft(int64_t n) {
  if (n < 1 || n > kLongest)
    fail(ErrorKind::argument, "a transform of " + std::to_string(n) + " numbers: expected 1 to " +
                                  std::to_string(kLongest));
  const int64_t points = n % 2 ? n : n / 2;
  plan_.n = int32_t(n);
  plan_.points = plan_.length = int32_t(points);
  plan_.chirped = largest_factor(points) > device::kLargestRadix;
  if (plan_.chirped)
    for (plan_.length = 1; plan_.length < 2 * points - 1;) plan_.length *= 2;
  add_stages(plan_.length);
  plan_.roots_at = int32_t(tables_.size());
  if (n % 2 == 0)
    for (int64_t k = 0; k <= points / 2; k++) tables_.push_back(rounded(root(k, n)));
  if (plan_.chirped) add_chirps(points);
  plan_.tables = tables_.data();
}

void Fft::add_stages(int64_t length) {
  for (int64_t rest = length, m = length; rest > 1;) {
    int64_t r = 4;
    if (rest % 4) r = 2;
    while (rest % r) r++;
    rest /= r, m /= r;
    plan_.radix[plan_.stages++] = int32_t(r);
    if (!device::has_butterfly(int(r)))
      for (int64_t k = 0; k < r; k++) tables_.push_back(rounded(root(k, r)));
    for (int64_t p = 0; p < m; p++)
      for (int64_t k = 1; k < r; k++) tables_.push_back(rounded(root(p * k, m * r)));
  }
}

void Fft::add_chirps(int64_t points) {
  const auto chirp = [points](int64_t k) { return root(k * k % (2 * points), 2 * points); };
  plan_.chirp_at = int32_t(tables_.size());
  for (int64_t k = 0; k < points; k++) tables_.push_back(rounded(chirp(k)));
  const auto length = size_t(plan_.length);
  std::vector<Exact> filter(length);
  for (int64_t k = 0; k < points; k++) {
    const Exact c = chirp(k);
    filter[size_t(k)] = filter[(length - size_t(k)) % length] = {c.first / double(length), -c.second / double(length)};
  }
  transform(filter);
  plan_.filter_at = int32_t(tables_.size());
  for (const Exact& v : filter) tables_.push_back(rounded(v));
}

FftRun::FftRun(const Fft& fft, Arena& scratch) : plan_(fft.plan()) {
  const size_t bytes = sizeof(Numbers) * size_t(plan_.length);
  x_ = static_cast<Numbers*>(scratch.take(bytes));
  y_ = static_cast<Numbers*>(scratch.take(bytes));
}

void FftRun::clear(int64_t from) {
  if (plan_.even())
    for (int64_t i = from; i < plan_.n; i++) Lanes(0.0f).store(numbers() + i * kLanes);
  else
    for (int64_t i = 0; i < plan_.n; i++) {
      if (i >= from) x_[i].re = Lanes(0.0f);
      x_[i].im = Lanes(0.0f);
    }
}

template <int R> static void run_stage(const device::Complex<Lanes>* x, device::Complex<Lanes>* y, int m, int s,
                                       const Pair* table) {
  for (int p = 0; p < m; p++) {
    const device::Twiddles<Lanes, R> twiddles(table, p);
    if (m > 1)
      for (int q = 0; q < s; q++) device::fft_step<R>(x, y, m, s, p, q, &twiddles);
    else
      for (int q = 0; q < s; q++) device::fft_step<R, Lanes>(x, y, m, s, p, q, nullptr);
  }
}

FftRun::Numbers* FftRun::stages(Numbers* x, Numbers* y) const {
  const Pair* table = plan_.tables;
  for (int i = 0, s = 1, m = plan_.length; i < plan_.stages; i++) {
    const int r = plan_.radix[i];
    m /= r;
    if (r == 2) run_stage<2>(x, y, m, s, table);
    else if (r == 3) run_stage<3>(x, y, m, s, table);
    else if (r == 4) run_stage<4>(x, y, m, s, table);
    else if (r == 5) run_stage<5>(x, y, m, s, table);
    else
      for (int p = 0; p < m; p++)
        for (int q = 0; q < s; q++) device::fft_step_of(r, x, y, m, s, p, q, table);
    table += device::stage_tables(r, m);
    s *= r;
    std::swap(x, y);
  }
  return x;
}

void FftRun::transform() {
  if (!plan_.chirped) {
    z_ = stages(x_, y_);
    return;
  }
  for (int i = 0; i < plan_.length; i++) x_[i] = device::chirp_in(plan_, x_, i);
  Numbers* z = stages(x_, y_);
  for (int i = 0; i < plan_.length; i++) z[i] = device::chirp_between(plan_, z[i], i);
  z = stages(z, z == x_ ? y_ : x_);
  for (int i = 0; i < plan_.points; i++) z[i] = device::chirp_out(plan_, z[i], i);
  z_ = z;
}

void FftRun::store(float* bins, int64_t step, int power) const {
  const int last = plan_.n / 2, pairs = device::bin_pairs(plan_);
  for (int k = 0; k < pairs; k++) {
    const auto found = device::real_bins(plan_, z_, k);
    device::bin_power(found.low, power).store(bins + k * step);
    if (plan_.even()) device::bin_power(found.high, power).store(bins + (last - k) * step);
  }
}

}  // namespace ps::audio
