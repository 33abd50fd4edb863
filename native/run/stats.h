// Where the time went, by operator: counted per worker, added up when asked.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace ps {

// One thread adds, others may look at any time.
class Counter {
 public:
  void operator+=(int64_t n) { value_.store(value_.load(std::memory_order_relaxed) + n, std::memory_order_relaxed); }
  operator int64_t() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<int64_t> value_{0};
};

struct NodeStats {
  Counter setup_ns, run_ns, samples;
  Counter stage_ns;      // as a stage of a row pipeline, in the samples that clocks were put into
};

inline int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

}  // namespace ps
