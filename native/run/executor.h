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
#include "run/gpu_runner.h"
#include "run/worker.h"

namespace ps {

struct Options {
  int threads = 1, io_threads = 1;
  int depth = 2;                       // batches which may hold output memory before they are taken
  int gpu_depth = 2;                   // of these, in the GPU's memory: the oldest
  int device = -1;                     // the GPU
  int priority = 0;                    // of its streams
  std::vector<int> cpus;               // thread i runs on cpus[i % n], other threads on any of them; empty: anywhere
  std::string name = "penstock";       // of the threads, as debuggers and top show it
};

class Executor {
 public:
  Executor(std::unique_ptr<Plan> plan, const Options& options);
  ~Executor();                         // stops after the samples in hand

  const Plan& plan() const { return *plan_; }
  const std::shared_ptr<Pool>& pool() const { return pool_; }
  GpuRunner* gpu() const { return gpu_.get(); }      // null: the plan needs none

  // Starts an iteration. `fed`: by source value.
  void schedule(int size, std::vector<int64_t> ids, std::vector<int64_t> epochs,
                std::vector<std::pair<int, FedRef>> fed);
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
  // Threads point to the batch in hand: it stays in batches_ until its last piece is done, or in cancel()'s hands until
  // nobody is at work. So its memory goes when its consumer lets go of it, and not when a thread gets to run again.
  void loop(Thread& self);
  void gpu_loop();
  void early_loop();
  Batch* find(bool io);            // a batch with a sample to be taken; oldest first
  Batch* find_gpu();               // one to be launched, or that has landed
  Batch* find_early();
  void launch(Batch* b);
  bool host_follows(size_t segment) const;
  const Segment& segment(const Batch& b) const { return plan_->segments[b.segment]; }
  bool may_start(const Batch& b) const;
  bool is_next(const Batch& b) const;
  void work(Thread& self, Batch& b, int sample);
  bool prepare(Batch& b);                          // false: later, when there is memory
  bool put_off(Batch& b);
  void enter(Batch& b);                            // a phase begins
  void next_phase(Batch& b) const;
  void advance(Batch* b);   // its last sample is done
  void give_memory(Batch& b, const Segment& s, int& at);
  void let_go(Batch& b) const;                     // of all that outputs do not need

  std::shared_ptr<const Plan> plan_;
  std::shared_ptr<Pool> pool_;
  Options options_;
  std::mutex mutex_;                               // guards what follows, and the phase of batches
  std::condition_variable work_, gpu_work_, early_work_, done_;
  std::deque<std::shared_ptr<Batch>> batches_;     // in order of their numbers
  std::vector<std::unique_ptr<Thread>> threads_;
  std::unique_ptr<GpuRunner> gpu_;
  std::thread gpu_thread_, early_thread_;
  int64_t scheduled_ = 0, taken_ = 0;
  int working_ = 0;                                // threads with a sample in hand
  int put_off_ = 0;                                // batches that wait for memory
  bool awaited_ = false;                           // somebody waits for the oldest batch
  bool stop_ = false;
  int64_t started_ns_ = 0;
};

}  // namespace ps
