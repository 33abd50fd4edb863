// Runs iterations of a plan on its own threads, several at a time: while samples of one batch are still being decoded,
// idle threads begin the next batch. Nothing here knows Python.
#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "core/waiting.h"
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
  double read_timeout = 0;             // seconds in which a file must answer; 0: any number
};

class Executor {
 public:
  static std::shared_ptr<Executor> start(std::unique_ptr<Plan> plan, const Options& options);
  void stop();                         // whoever waits, or calls from now on, fails; close() must follow
  // Stops after the samples in hand. Threads that wait for files which do not answer are left to themselves: the names
  // of those files. They keep the executor until they come back.
  std::vector<std::string> close();

  const Plan& plan() const { return *plan_; }
  const std::shared_ptr<Pool>& pool() const { return pool_; }
  GpuRunner* gpu() const { return gpu_.get(); }      // null: the plan needs none

  // Starts an iteration. `fed`: by source value.
  void schedule(int size, std::vector<int64_t> ids, std::vector<int64_t> epochs,
                std::vector<std::pair<int, FedRef>> fed);
  // Waits for the oldest iteration. Null: not yet, after `timeout_ms`. One that waits too long for a file has failed.
  std::shared_ptr<Batch> wait(int timeout_ms);
  int64_t scheduled();                 // iterations so far
  void cancel();                       // throws away all of them; returns when no thread works on any, as in close()
  std::vector<NodeStats> stats();
  std::vector<Passes> passes() const;  // of groups of several nodes, so far; of a group there are several by each thread
  std::vector<std::pair<int64_t, int64_t>> busy();   // by thread: ns at work, ns since start
  Trace& trace() { return *trace_; }
  void record(bool on);                // of all that threads do from now on

 private:
  struct Thread {
    std::unique_ptr<Worker> worker;
    std::thread thread;
    int index = 0;
    bool io = false;
    Counter busy_ns;
    Waiting* waiting = nullptr;        // known from its first sample on
    Batch* in_hand = nullptr;
    std::atomic<bool> answers{false};  // for what it has in hand: who takes this away looks after the batch
    std::shared_ptr<Batch> orphan;     // what it had in hand when it was left behind
  };
  // The threads of one kind. To wake one costs both sides more than many a batch's work, so only those are woken that
  // find some: whoever takes a piece wakes others if he leaves more.
  struct Crew {
    std::condition_variable work;
    int idle = 0;
    bool polls = false;                            // one of them looks now and then whether there is memory
  };
  Executor(std::unique_ptr<Plan> plan, const Options& options);
  void start_threads(const std::shared_ptr<Executor>& self);
  // Threads point to the batch in hand: it stays in batches_ until its last piece is done, or in cancel()'s hands until
  // nobody is at work. So its memory goes when its consumer lets go of it, and not when a thread gets to run again.
  void loop(Thread& self);
  void gpu_loop();
  void early_loop();
  void look_for_landings(std::unique_lock<std::mutex>& lock);
  Batch* find(bool io);            // a batch with a sample to be taken; oldest first
  std::array<int, 2> wanted();     // how many idle ones of each crew there is work for
  void wake(std::array<int, 2> wanted);
  Batch* find_gpu();               // one to be launched, or that has landed
  Batch* find_early();
  void launch(Batch* b);
  bool host_follows(size_t segment) const;
  const Segment& segment(const Batch& b) const { return plan_->segments[b.segment]; }
  bool may_start(const Batch& b) const;
  bool is_next(const Batch& b) const;
  bool work(Thread& self, Batch& b, Phase phase, int first, int last, int64_t now);   // false: later
  static void set_grain(int& grain, int64_t took_ns, int samples);
  bool prepare(Batch& b);                          // false: later, when there is memory
  bool put_off(Batch& b);
  void enter(Batch& b);                            // a phase begins
  void next_phase(Batch& b) const;
  void advance(Batch* b);                          // its last sample is done
  void step(Batch& b);                             // with the lock held
  void mark(const Batch& b);                       // for profiles: where it is now
  void mark_wait(const Batch& b, int64_t since_ns, bool taken);
  void record_device(const Batch& b, int64_t launched_ns);
  void give_memory(Batch& b, const Segment& s, int& at);
  bool leave_behind(Thread& t, const std::shared_ptr<Batch>& b);
  void wait_until_idle(std::unique_lock<std::mutex>& lock, const std::deque<std::shared_ptr<Batch>>& batches,
                       bool last);
  const Thread* stuck_thread(const Batch& b) const;
  bool give_up_reading();
  void let_go(Batch& b) const;                     // of all that outputs do not need

  std::shared_ptr<const Plan> plan_;
  std::shared_ptr<Pool> pool_;
  Options options_;
  std::shared_ptr<Trace> trace_;
  std::mutex mutex_;                               // guards what follows, and the phase of batches
  std::array<Crew, 2> crews_;                      // for samples; for those that may wait for files
  std::condition_variable gpu_work_, early_work_;
  std::condition_variable done_;                   // a batch is finished
  std::condition_variable rest_;                   // no thread is at work, or one that was left behind comes back
  std::deque<std::shared_ptr<Batch>> batches_;     // in order of their numbers
  size_t shared_bytes_ = 0;                        // that early operators wrote for the one before
  std::vector<std::unique_ptr<Thread>> threads_;
  std::unique_ptr<GpuRunner> gpu_;
  std::thread gpu_thread_, early_thread_;
  int64_t scheduled_ = 0, taken_ = 0;
  std::vector<std::array<int, 2>> grains_;          // by segment, in setup and in run: samples to be taken at a time
  int working_ = 0;                                // threads with a sample in hand
  int put_off_ = 0;                                // batches that wait for memory
  bool awaited_ = false;                           // somebody waits for the oldest batch
  bool stop_ = false;
  int64_t started_ns_ = 0;
  const int64_t read_timeout_ns_;                  // how long one call may wait for a file; 0: for ever
};

}  // namespace ps
