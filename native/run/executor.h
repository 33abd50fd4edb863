// Runs iterations of a plan on its own threads, several at a time: while samples of one batch are still being decoded,
// idle threads begin the next batch. Nothing here knows Python.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "run/gpu_threads.h"
#include "run/python_calls.h"
#include "run/read_timeout.h"
#include "run/scheduler.h"
#include "run/worker_pool.h"

namespace ps {

class Executor {
 public:
  static std::shared_ptr<Executor> start(std::unique_ptr<Plan> plan, const Options& options);
  void stop() { scheduler_.stop(); }   // pending and later calls fail; close() must follow
  // Stops when the current samples are done. Threads that are blocked in reading a file are detached, and keep the
  // executor until they return: the names of those files.
  std::vector<std::string> close();

  const Plan& plan() const { return *plan_; }
  const std::shared_ptr<Pool>& pool() const { return pool_; }
  GpuRunner* gpu() const { return gpu_ ? &gpu_->runner() : nullptr; }   // null: the plan needs none
  PythonCalls& python() { return *python_; }

  // Starts an iteration. `fed`: by source value; `keys`: by node, in place of the plan's, if there are any.
  void schedule(int size, std::vector<int64_t> ids, std::vector<int64_t> epochs,
                std::vector<std::pair<int, FedRef>> fed, std::vector<uint64_t> keys = {});
  // Waits for the oldest iteration. Null: not yet, after `timeout_ms`. One that waits too long for a file has failed.
  std::shared_ptr<Batch> wait(int timeout_ms);
  int64_t scheduled() { return scheduler_.scheduled(); }         // iterations so far
  void cancel();                       // throws away all of them; returns when no thread works on any, as in close()

  std::vector<NodeStats> stats() const;
  std::vector<Passes> passes() const;  // of groups of several nodes, so far; of a group there are several by each
                                       // thread
  std::vector<std::pair<int64_t, int64_t>> busy() const { return workers_->busy(); }
  Trace& trace() { return *trace_; }
  void record(bool on);                // of all that threads do from now on

 private:
  Executor(std::unique_ptr<Plan> plan, const Options& options);
  void let_go(Batch& b) const;         // of all that outputs do not need

  const Options options_;
  const std::shared_ptr<const Plan> plan_;
  const std::shared_ptr<Trace> trace_;
  Scheduler scheduler_;
  std::unique_ptr<GpuThreads> gpu_;
  std::shared_ptr<Pool> pool_;
  std::unique_ptr<WorkerPool> workers_;
  std::unique_ptr<PythonCalls> python_;
  std::unique_ptr<ReadTimeout> timeout_;
};

}  // namespace ps
