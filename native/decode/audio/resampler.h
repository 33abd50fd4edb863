// Signals at another rate, on the CPU (device/audio/resample.h).
#pragma once

#include <cstdint>
#include <vector>

#include "core/memory.h"
#include "device/audio/resample.h"

namespace ps {

class AudioResampler {
 public:
  explicit AudioResampler(double quality);                // 0 to 100
  // Samples of the result.
  static int64_t length(int64_t samples, double in_rate, double out_rate);
  const std::vector<float>& table() const { return table_; }
  device::Sinc sinc() const { return {table_.data(), lobes_, taps_}; }

  // `n` samples, each of so many channels side by side, become `out_n`.
  void run(const float* in, int64_t n, int64_t channels, double scale, float* out, int64_t out_n,
           Arena& scratch) const;

 private:
  int32_t lobes_, taps_;
  std::vector<float> table_;
};

}  // namespace ps
