// Short-time Fourier transforms of signals: some windows in each block.
#pragma once

#include "device/audio/fft.h"

namespace ps::device {

// Which number of a signal of n stands at index i, which may lie before it or behind it; -1: a zero.
PS_FN int64_t window_index(int64_t i, int64_t n, bool reflect) {
  if (i >= 0 && i < n) return i;
  if (!reflect) return -1;
  if (n == 1) return 0;
  const int64_t period = 2 * n - 2;
  i %= period;
  if (i < 0) i += period;
  return i < n ? i : period - i;
}

struct SpectrogramJob {
  const float *in, *weights;
  float* out;
  Pair* scratch;                       // for each block, where the shared memory is too small
  int64_t length, windows;
  int64_t before;                      // how far the first window begins before the signal
  int64_t step, bin_step, window_step; // in the signal, and in the output from one bin and window to the next
  int32_t window_length, reflect, power;
  int32_t per_block, blocks;           // windows at a time
  FftPlan fft;
};

inline constexpr int kSpectrogramThreads = 128;

#if !PS_HOST
PS_FN void run_spectrogram(const Launch& l) {
  PS_SHARED_MEMORY(memory);
  const int sample = find_sample(l);
  const auto& job = *reinterpret_cast<const SpectrogramJob*>(l.jobs + int64_t(l.stride) * sample);
  const FftPlan& f = job.fft;
  const int number = block() - l.first_block[sample], n = f.n, size = f.length;
  Pair* x = job.scratch ? job.scratch + int64_t(number) * 2 * job.per_block * size : reinterpret_cast<Pair*>(memory);
  Pair* y = x + job.per_block * size;
  for (int64_t first = int64_t(number) * job.per_block; first < job.windows;
       first += int64_t(job.blocks) * job.per_block) {
    const int count = int(min(int64_t(job.per_block), job.windows - first));
    for (int v = thread(); v < count * n; v += threads()) {
      const int window = v / n, i = v - window * n;
      float value = 0;
      if (i < job.window_length) {
        const int64_t at = window_index((first + window) * job.step - job.before + i, job.length, job.reflect != 0);
        value = (at < 0 ? 0.0f : job.in[at]) * job.weights[i];
      }
      if (f.even()) reinterpret_cast<float*>(x + window * size)[i] = value;
      else x[window * size + i] = {value, 0.0f};
    }
    sync();
    const Pair* z = run_fft(f, x, y, count);
    for (int v = thread(); v < count * bin_pairs(f); v += threads()) {
      const int k = v / count, window = v - k * count;
      const auto found = real_bins(f, z + window * size, k);
      float* out = job.out + (first + window) * job.window_step;
      out[k * job.bin_step] = bin_power(found.low, job.power);
      if (f.even()) out[(n / 2 - k) * job.bin_step] = bin_power(found.high, job.power);
    }
    sync();
  }
}
#define PS_SPECTROGRAM_KERNEL \
  PS_KERNEL kernel(ps::device::Launch launch) { ps::device::run_spectrogram(launch); }
#endif

}  // namespace ps::device
