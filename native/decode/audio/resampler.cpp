#include "decode/audio/resampler.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numbers>

#include "core/simd.h"

namespace ps {

using device::kSincLanes;
using device::kSincSteps;

namespace {

// `taps` neighbours times two rows of the table, in kSincLanes sums each, as device::Resample adds them up.
void sum_taps(const float* from, const float* near, const float* next, int taps, float* a, float* b) {
#if defined(__AVX2__)
  __m256 sum_a = _mm256_setzero_ps(), sum_b = _mm256_setzero_ps();
  for (int j = 0; j < taps; j += kSincLanes) {
    const __m256 v = _mm256_loadu_ps(from + j);
    sum_a = _mm256_add_ps(sum_a, _mm256_mul_ps(v, _mm256_loadu_ps(near + j)));
    sum_b = _mm256_add_ps(sum_b, _mm256_mul_ps(v, _mm256_loadu_ps(next + j)));
  }
  _mm256_storeu_ps(a, sum_a), _mm256_storeu_ps(b, sum_b);
#else
  __m128 sums[4] = {_mm_setzero_ps(), _mm_setzero_ps(), _mm_setzero_ps(), _mm_setzero_ps()};
  for (int j = 0; j < taps; j += kSincLanes)
    for (int half = 0; half < 2; half++) {
      const int at = j + 4 * half;
      const __m128 v = _mm_loadu_ps(from + at);
      sums[half] = _mm_add_ps(sums[half], _mm_mul_ps(v, _mm_loadu_ps(near + at)));
      sums[2 + half] = _mm_add_ps(sums[2 + half], _mm_mul_ps(v, _mm_loadu_ps(next + at)));
    }
  for (int half = 0; half < 2; half++)
    _mm_storeu_ps(a + 4 * half, sums[half]), _mm_storeu_ps(b + 4 * half, sums[2 + half]);
#endif
}

}  // namespace

AudioResampler::AudioResampler(double quality) {
  lobes_ = int32_t(std::lround(0.007 * quality * quality - 0.09 * quality + 3));
  taps_ = (2 * lobes_ + kSincLanes - 1) / kSincLanes * kSincLanes;
  table_.assign(size_t(taps_) * (kSincSteps + 1), 0.0f);
  // The window is a little wider than the lobes, by half a step on either side.
  const double width = (double(lobes_) * 2 * kSincSteps + 1) / (2 * kSincSteps);
  for (int row = 0; row <= kSincSteps; row++)
    for (int j = 0; j < 2 * lobes_; j++) {
      const int steps = (j + 1 - lobes_) * kSincSteps - row;
      const double x = double(steps) / kSincSteps, angle = std::numbers::pi * x;
      const double sinc = steps == 0 ? 1.0 : steps % kSincSteps == 0 ? 0.0 : std::sin(angle) / angle;
      table_[size_t(row * taps_ + j)] = float(sinc * 0.5 * (1 + std::cos(angle / width)));
    }
}

int64_t AudioResampler::length(int64_t samples, double in_rate, double out_rate) {
  return int64_t(std::ceil(double(samples) * out_rate / in_rate));
}

void AudioResampler::run(const float* in, int64_t n, int64_t channels, double scale, float* out, int64_t out_n,
                    Arena& scratch) const {
  // A copy of one channel with zeros at both ends. What lies further off is zeros, too.
  const int64_t margin = 2 * taps_;
  auto* padded = static_cast<float*>(scratch.take(sizeof(float) * size_t(n + 2 * margin)));
  std::fill_n(padded, margin, 0.0f);
  std::fill_n(padded + margin + n, margin, 0.0f);
  const device::Sinc s = sinc();
  for (int64_t channel = 0; channel < channels; channel++) {
    float* signal = padded + margin;
    if (channels == 1) std::memcpy(signal, in, sizeof(float) * size_t(n));
    else
      for (int64_t i = 0; i < n; i++) signal[i] = in[i * channels + channel];
    for (int64_t i = 0; i < out_n; i++) {
      const device::SincPlace place = device::sinc_place(s, i, scale);
      if (place.first >= n) {
        out[i * channels + channel] = 0;
        continue;
      }
      const float* near = s.table + place.row * s.taps;
      float a[kSincLanes], b[kSincLanes];
      sum_taps(signal + place.first, near, near + s.taps, s.taps, a, b);
      out[i * channels + channel] = device::sinc_between(a, b, place.part);
    }
  }
}

}  // namespace ps
