// The threads that give a GPU its work, batch by batch.
#pragma once

#include <memory>
#include <thread>

#include "run/gpu_runner.h"
#include "run/scheduler.h"

namespace ps {

class GpuThreads {
 public:
  GpuThreads(const Plan& plan, const Options& options, Scheduler& scheduler, std::shared_ptr<Trace> trace);
  GpuRunner& runner() { return runner_; }
  void start();
  void join();

 private:
  void launch_loop();                              // also advances batches whose GPU work is done
  void ahead_loop();
  void look_for_landings(Scheduler::Lock& lock);
  void launch(Batch& b);
  bool is_read_on_host(const Segment& s) const;
  bool host_follows(size_t segment) const;
  void record_device(const Batch& b, int64_t launched_ns);

  const Plan& plan_;
  const Options& options_;
  Scheduler& scheduler_;
  const std::shared_ptr<Trace> trace_;
  GpuRunner runner_;
  std::thread launcher_, ahead_;
};

}  // namespace ps
