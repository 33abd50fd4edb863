// Which batch goes on, and with what: the batches under way, where each of them is, and who waits for work on them.
#pragma once

#include <array>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

#include "run/batch.h"
#include "run/options.h"
#include "run/trace.h"

namespace ps {

// All of it is guarded by one lock, which WorkerPool, GpuThreads and PythonCalls take, unless a function says that it
// takes the lock itself.
class Scheduler {
 public:
  using BatchRef = std::shared_ptr<Batch>;
  using Batches = std::deque<BatchRef>;
  using Lock = std::unique_lock<std::mutex>;
  // How many idle workers of each kind there is work for: those who work on samples, and those who may wait for files.
  using Wanted = std::array<int, 2>;

  Scheduler(std::shared_ptr<const Plan> plan, const Options& options, std::shared_ptr<Trace> trace);

  void add(BatchRef b);                // a new one; takes the lock
  int64_t scheduled();                 // so far; takes the lock
  BatchRef take();                     // the oldest one
  Batches clear();                     // throws away all of them
  void stop();                         // for ever; takes the lock

  // The oldest batch with something to do for a worker, a thread of the GPU's, or Python. Null: there is none.
  Batch* find(bool io);
  Batch* find_gpu();                   // one to be launched, or that has landed
  Batch* find_ahead();
  BatchRef find_call();                // if all before it are through with that segment

  void step(Batch& b);                 // its phase is over
  void advance(Batch& b);              // likewise, of one that may have failed in it; takes the lock
  // Postpones a batch for which there is no memory, until older ones are taken and released; false: the consumer waits
  // for this one, and no memory was released for kPatienceNs.
  bool defer(Batch& b);                // takes the lock
  void undefer(Batch& b);

  // How many samples a worker takes at a time, by segment and phase.
  int& chunk_size(const Batch& b) { return chunk_sizes_[b.segment][b.phase == Phase::run]; }
  static void adapt(int& chunk_size, int64_t took_ns, int samples);

  Wanted wanted();
  void wake(Wanted wanted);            // without the lock
  void end_work() { if (--working == 0) rest.notify_all(); }
  void mark(const Batch& b);           // for profiles: where it is now
  void mark_wait(const Batch& b, int64_t since_ns, bool taken);
  const Segment& segment(const Batch& b) const { return plan_->segments[b.segment]; }

  std::mutex mutex;
  Batches batches;                     // in order of their numbers
  bool stopped = false;
  bool awaited = false;                // a consumer waits for the oldest batch
  int working = 0;                     // threads with a task
  int deferred = 0;                    // batches that wait for memory
  size_t shared_bytes = 0;             // that early operators wrote for the batch that was taken last

  // The workers of one kind. To wake one costs both sides more than many a batch's work, so only those are woken that
  // find some: a thread that takes a task wakes others if tasks remain.
  struct Workers {
    std::condition_variable work;
    int idle = 0;
    bool polls = false;                // one of them looks now and then whether there is memory
  };
  std::array<Workers, 2> workers;      // by whether they may wait for files
  std::condition_variable gpu_work, ahead_work, python_work;
  std::condition_variable done;        // a batch is finished
  std::condition_variable rest;        // no thread has a task, or one that was left behind comes back

 private:
  bool may_start(const Batch& b) const;
  bool is_next(const Batch& b) const;
  void enter(Batch& b);                // a phase begins
  void next_phase(Batch& b) const;

  const std::shared_ptr<const Plan> plan_;
  const Options& options_;
  const std::shared_ptr<Trace> trace_;
  int64_t scheduled_ = 0, taken_ = 0;
  std::vector<std::array<int, 2>> chunk_sizes_;    // by segment, in setup and in run
};

}  // namespace ps
