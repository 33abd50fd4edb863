// Segments in Python: what they call, with which batch, and how that goes on with the answers.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "run/gpu_runner.h"
#include "run/scheduler.h"

namespace ps {

class PythonCalls {
 public:
  PythonCalls(const Plan& plan, Scheduler& scheduler, const GpuRunner* gpu, std::shared_ptr<Trace> trace)
      : plan_(plan), scheduler_(scheduler), gpu_(gpu), trace_(std::move(trace)), stats_(plan.nodes.size()) {}

  // A node of such a segment, and the batch that has come there.
  struct Call {
    std::shared_ptr<Batch> batch;
    int node = -1;
    int64_t start_ns = 0;
    std::shared_ptr<const gpu::Stream> stream = nullptr;   // that its work goes into, even when the executor is gone
  };
  // Waits for one; batches come in the order of their numbers. Each call is answered, from any thread: by the outputs,
  // or by why there are none.
  Call next();
  void answer(const Call& call, std::vector<FedRef> outputs);
  void refuse(const Call& call, std::string why);
  void add_to(std::vector<NodeStats>& sum) const;

 private:
  void end(const Call& call);

  const Plan& plan_;
  Scheduler& scheduler_;
  const GpuRunner* const gpu_;
  const std::shared_ptr<Trace> trace_;
  std::vector<NodeStats> stats_;                   // by node
};

}  // namespace ps
