// As if pixels had been counted, event by event: numbers of Poisson distributions.
#pragma once

#include "device/noise/noise.h"

namespace ps::device {

inline constexpr int kMostBySums = 48;                   // of a mean up to 16 nobody has ever seen more
PS_TABLE(double) kInverses[kMostBySums + 1] = {
    0,      1 / 1., 1 / 2.,  1 / 3.,  1 / 4.,  1 / 5.,  1 / 6.,  1 / 7.,  1 / 8.,  1 / 9.,  1 / 10., 1 / 11., 1 / 12.,
    1 / 13., 1 / 14., 1 / 15., 1 / 16., 1 / 17., 1 / 18., 1 / 19., 1 / 20., 1 / 21., 1 / 22., 1 / 23., 1 / 24., 1 / 25.,
    1 / 26., 1 / 27., 1 / 28., 1 / 29., 1 / 30., 1 / 31., 1 / 32., 1 / 33., 1 / 34., 1 / 35., 1 / 36., 1 / 37., 1 / 38.,
    1 / 39., 1 / 40., 1 / 41., 1 / 42., 1 / 43., 1 / 44., 1 / 45., 1 / 46., 1 / 47., 1 / 48.};

// For numbers from -16 to 0, of operations that are rounded alike everywhere, and without a division.
PS_FN double power_of_e(double v) {
  const double x = v * 0.0625;
  double sum = 1;
  PS_UNROLL
  for (int k = 14; k > 0; k--) sum = 1 + x * sum * (1.0 / k);
  PS_UNROLL
  for (int k = 0; k < 4; k++) sum *= sum;
  return sum;
}

PS_FN double log_factorial(double k) {                   // of whole numbers
  if (k < 10) {
    double product = 1;
    for (double i = 2; i <= k; i++) product *= i;
    return logarithm(product);
  }
  const double x = k + 1, y = 1 / (x * x);               // Stirling's series
  return (x - 0.5) * logarithm(x) - x + 0.91893853320467274178 + (1.0 / 12 - y * (1.0 / 360 - y / 1260)) / x;
}

// A number of the Poisson distribution. A small mean: by adding up probabilities. A larger one: by rejection, as in
// Hoermann, "The transformed rejection method for generating Poisson random variables" (1993), PTRS.
PS_FN double poisson(const PhiloxSequence& random, uint32_t number, double mean) {
  PhiloxWords words = random.block(number);
  if (mean < 16) {
    const double u = uniform53(words.wide(0));
    double p = power_of_e(-mean), sum = p;
    int k = 0;
    while (u >= sum && k < kMostBySums) {
      k++;
      p *= mean * kInverses[k];
      sum += p;
    }
    return k;
  }
  const double b = 0.931 + 2.53 * rounded_root(mean), a = -0.059 + 0.02483 * b;
  const double inverse = 1.1239 + 1.1328 / (b - 3.4), quick = 0.9277 - 3.6224 / (b - 2);
  PhiloxSequence more = random;
  for (int attempt = 0; attempt < 128; attempt++) {      // each succeeds with more than two thirds
    if (attempt && attempt % 2 == 0) {
      more.key += 0x9E3779B97F4A7C15u;
      words = more.block(number);
    }
    const int half = attempt % 2 * 2;
    const double u = uniform32(words.w[half]) + 0x1p-33 - 0.5, v = uniform32(words.w[half + 1]) + 0x1p-33;
    const double distance = 0.5 - (u < 0 ? -u : u);
    const double k = whole_below((2 * a / distance + b) * u + mean + 0.43);
    if (distance >= 0.07 && v <= quick) return k;
    if (k < 0 || (distance < 0.013 && v > distance)) continue;
    const double accepted = logarithm(v) + logarithm(inverse) - logarithm(a / (distance * distance) + b);
    if (accepted <= k * logarithm(mean) - mean - log_factorial(k)) return k;
  }
  return whole_below(mean);
}

template <class T> struct ShotNoise : NoiseFields {
  float factor;

  PS_FN T operator()(T v, int64_t i) const {
    if (factor == 0) return v;
    const double mean = convert<double>(v) / double(factor);
    if (!(mean > 0)) return mean == mean ? T(0) : v;
    if (mean > 0x1p50) return v;                         // its noise is less than the last bits of most types
    return convert<T>(poisson(random, uint32_t(i), mean) * double(factor));
  }
  template <class Up> PS_FN auto at(const Up& up, int x, int y, int c) const { return noisy<T>(*this, up, x, y, c); }
};

}  // namespace ps::device
