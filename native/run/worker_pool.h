// The threads that work on samples, each with its own Worker: those of the CPU, and those that may wait for files.
#pragma once

#include <atomic>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "core/waiting.h"
#include "run/gpu_runner.h"
#include "run/scheduler.h"
#include "run/worker.h"

namespace ps {

class WorkerPool {
 public:
  struct Thread {
    std::unique_ptr<Worker> worker;
    std::thread thread;
    int index = 0;
    bool io = false;
    Counter busy_ns;
    Waiting* waiting = nullptr;        // known from its first task on
    Batch* task = nullptr;             // what it works on
    std::atomic<bool> owns_task{false};            // cleared when its task is abandoned
    std::shared_ptr<Batch> abandoned;  // its task when it was left behind
  };

  WorkerPool(const Plan& plan, const Options& options, Scheduler& scheduler, std::shared_ptr<Pool> memory,
             GpuRunner* gpu, std::shared_ptr<Trace> trace);
  static int count(const Plan& plan, const Options& options);    // of threads
  void start(const std::shared_ptr<void>& owner);  // is kept alive by the threads
  void join();                         // all that were not detached
  const std::vector<std::unique_ptr<Thread>>& threads() const { return threads_; }
  void add_to(std::vector<NodeStats>& sum) const;
  std::vector<std::pair<int64_t, int64_t>> busy() const;         // by thread: ns at work, ns since start

 private:
  // Threads point to their tasks' batch: it stays in the scheduler's list until its last piece is done, or is held
  // by cancel() until no thread works on it. So its memory goes when its consumer lets go of it, and not when a thread
  // gets to run again.
  void loop(Thread& self);
  bool work(Thread& self, Batch& b, Phase phase, int first, int last, int64_t now);   // false: later
  bool prepare(Batch& b);              // false: later, when there is memory
  void give_memory(Batch& b, const Segment& s, int& at);

  const Plan& plan_;
  const Options& options_;
  Scheduler& scheduler_;
  const std::shared_ptr<Pool> memory_;
  GpuRunner* const gpu_;
  const std::shared_ptr<Trace> trace_;
  std::vector<std::unique_ptr<Thread>> threads_;
  const int64_t started_ns_ = now_ns();
};

}  // namespace ps
