// Runs iterations of a plan on its own threads, several at a time: while samples of one batch are still being decoded,
// idle threads begin the next batch. Nothing here knows Python.
#pragma once

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "run/batch.h"
#include "run/worker.h"

namespace ps {

struct Options {
  int threads = 1, io_threads = 1;
  int depth = 2;                       // batches which may hold output memory before they are taken
  std::vector<int> cpus;               // thread i runs on cpus[i % n]; empty: anywhere
  std::string name = "penstock";       // of the threads, as debuggers and top show it
};

class Executor {
 public:
  Executor(std::unique_ptr<Plan> plan, const Options& options);
  ~Executor();                         // stops after the samples in hand

  const Plan& plan() const { return *plan_; }
  const std::shared_ptr<Pool>& pool() const { return pool_; }

  // Starts an iteration. `fed` holds the samples of each source value.
  void schedule(int size, std::vector<int64_t> ids, std::vector<int64_t> epochs,
                std::vector<std::pair<int, std::vector<Tensor>>> fed, std::vector<BufferRef> memory);
  // Waits for the oldest iteration. Null: not yet, after `timeout_ms`.
  std::shared_ptr<Batch> wait(int timeout_ms);
  int pending();                       // iterations scheduled and not taken
  void cancel();                       // throws away all of them; returns when no thread works on any
  std::vector<NodeStats> stats();
  std::vector<std::pair<int64_t, int64_t>> busy();   // by thread: ns at work, ns since start

 private:
  struct Thread {
    std::unique_ptr<Worker> worker;
    std::thread thread;
    bool io = false;
    Counter busy_ns;
  };
  void loop(Thread& self);
  std::shared_ptr<Batch> find(bool io);            // a batch with a sample to be taken; oldest first
  bool may_start(const Batch& b) const;
  void work(Thread& self, Batch& b, int sample);
  void enter(Batch& b);                            // a phase begins
  void advance(const std::shared_ptr<Batch>& b);   // its last sample is done
  void give_memory(Batch& b, const Segment& s);
  void let_go(Batch& b) const;                     // of all that outputs do not need

  std::shared_ptr<const Plan> plan_;
  std::shared_ptr<Pool> pool_;
  Options options_;
  std::mutex mutex_;                               // guards what follows, and the phase of batches
  std::condition_variable work_, done_;
  std::deque<std::shared_ptr<Batch>> batches_;     // in order of their numbers
  std::vector<std::unique_ptr<Thread>> threads_;
  int64_t scheduled_ = 0, taken_ = 0;
  int working_ = 0;                                // threads with a sample in hand
  bool stop_ = false;
  int64_t started_ns_ = 0;
};

}  // namespace ps
