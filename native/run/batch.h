// One iteration on its way through the plan.
#pragma once

#include <atomic>
#include <exception>
#include <memory>
#include <mutex>
#include <vector>

#include "run/plan.h"

namespace ps {

struct Failure {
  ErrorKind kind = ErrorKind::internal;
  int node = -1, sample = -1;
  std::string message, source;
};

struct Batch {
  std::shared_ptr<const Plan> plan;            // constants and file names live there, and a consumer may still look
  int64_t number = 0;                          // of the iteration
  int size = 0;
  std::vector<int64_t> ids, epochs;            // by sample
  std::vector<std::vector<Tensor>> values;     // by value, by sample
  std::vector<uint8_t> params;                 // by sample, by node
  std::vector<BufferRef> memory;               // that fed copies live in
  std::vector<BufferRef> value_memory;         // by value: the one buffer of a contiguous value, if it has one

  // Where it is: segment, and whether that segment's setup or run phase is going on.
  size_t segment = 0;
  bool running = false;
  std::atomic<int> next{0}, left{0};           // samples of this phase: to be taken, to be finished
  bool finished = false;
  std::atomic<bool> failed{false}, cancelled{false};

  std::mutex mutex;                            // guards failure and arenas
  Failure failure;
  std::vector<std::unique_ptr<Arena>> arenas;  // by worker: what early operators wrote

  void fail(Failure f) {
    std::lock_guard lock(mutex);
    if (!failed || f.sample < failure.sample) failure = std::move(f);   // the first by sample, whatever the threads do
    failed = true;
  }
};

}  // namespace ps
