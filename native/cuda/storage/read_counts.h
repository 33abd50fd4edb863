// How a reader's samples came into a GPU's memory. Threads add while others read.
#pragma once

#include <map>
#include <mutex>
#include <vector>

#include "core/operator.h"

namespace ps::gpu {

class ReadCounts {
 public:
  // `why` is what kept a sample from going straight from its file; `fits`: nothing.
  void add(Misfit why) {
    std::lock_guard lock(mutex_);
    samples_[why]++;
  }
  std::map<Misfit, int64_t> list() const {
    std::lock_guard lock(mutex_);
    return samples_;
  }

 private:
  mutable std::mutex mutex_;
  std::map<Misfit, int64_t> samples_;
};

// An operator that has such.
struct CountsReads {
  virtual ~CountsReads() = default;
  virtual const ReadCounts* read_counts() const = 0;   // null: it reads for the CPU
};

}  // namespace ps::gpu
