// Fourier transforms on the CPU: kLanes windows at a time (device/audio/fft.h).
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/memory.h"
#include "device/audio/fft.h"
#include "ops/audio/lanes.h"

namespace ps::audio {

class Fft {
 public:
  static constexpr int64_t kLongest = int64_t(1) << 24;
  explicit Fft(int64_t n);             // 1 to kLongest real numbers
  const device::FftPlan& plan() const { return plan_; }
  int64_t bins() const { return plan_.bins(); }
  const std::vector<device::Pair>& tables() const { return tables_; }

 private:
  void add_stages(int64_t length);
  void add_chirps(int64_t points);
  device::FftPlan plan_{};
  std::vector<device::Pair> tables_;
};

// Memory for one call, out of a thread's scratch: where the numbers go, and where the bins are found.
class FftRun {
 public:
  FftRun(const Fft& fft, Arena& scratch);
  // Number i of all windows is to be written to numbers() + i * step() * kLanes; all n of them.
  float* numbers() const { return reinterpret_cast<float*>(x_); }
  int step() const { return plan_.even() ? 1 : 2; }
  void clear(int64_t from);            // zeroes number `from` and those behind it, and all imaginary parts
  void transform();
  // Bin k of all windows to bins + k * step.
  void store(float* bins, int64_t step, int power) const;

 private:
  using Numbers = device::Complex<Lanes>;
  Numbers* stages(Numbers* x, Numbers* y) const;
  const device::FftPlan& plan_;
  Numbers *x_, *y_, *z_ = nullptr;     // to be transformed; of the same size; transformed
};

}  // namespace ps::audio
