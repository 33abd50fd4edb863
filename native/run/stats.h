// Where the time went, by operator: counted per worker, added up when asked.
#pragma once

#include <chrono>
#include <cstdint>

namespace ps {

struct NodeStats {
  int64_t setup_ns = 0, run_ns = 0, samples = 0;
};

inline int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

}  // namespace ps
