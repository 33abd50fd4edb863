// A batch's way through a GPU segment: recorded when its shapes are known, enqueued when the CPU has done its part.
#pragma once

#include <deque>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "run/batch.h"
#include "run/pass_counts.h"

namespace ps {

class GpuRunner {
 public:
  GpuRunner(const Plan& plan, int device, int priority);
  ~GpuRunner();

  gpu::DeviceRef device() const { return device_; }
  std::shared_ptr<const gpu::Stream> stream() const { return compute_; }   // of kernels: functions in Python work in
                                                                           // it, too
  // Gives the segment's outputs memory and lists its work; `node` is the current one, for errors. Where it throws,
  // the batch holds nothing of that.
  void record(Batch& b, const Segment& s, int& node);
  // Enqueues what waits for nothing.
  void launch_ahead(Batch& b);
  // Enqueues the rest. Memory that the batch lets go of is used again when the GPU has passed this point. Failures go
  // to the batch.
  void launch(Batch& b);
  // Has a function called, by a thread of the driver's, when the GPU has passed this point. False: the driver refuses.
  bool call_back(void (*function)(void*), void* argument);
  // Waits for what was enqueued of a batch that failed or was cancelled.
  void abandon(Batch& b);
  // Lets go of others' memory that the GPU is done with. What ends with it is others' code, so this is for threads of
  // theirs, without a lock.
  void let_go();
  std::vector<std::string> sources();          // of all kernels so far
  const std::vector<PassCounts>& passes() const { return passes_; }   // by Group::counted

 private:
  std::vector<Context> contexts(Batch& b, int node);
  void give_memory(Batch& b, const Node& node, bool front);
  void take_memory_back(Batch& b, const Segment& s) const;
  Passes record_group(Batch& b, const Group& g);
  gpu::GroupMisfit record_fused(Batch& b, const std::vector<int>& nodes, bool decoded);
  void record_alone(Batch& b, int node);

  const Plan& plan_;
  std::vector<PassCounts> passes_;             // added to with mutex_ held
  gpu::DeviceRef device_;
  gpu::Stream ahead_, front_;                  // decoding by the GPU; copies
  const std::shared_ptr<const gpu::Stream> compute_;   // kernels, which follow both
  std::mutex mutex_;                           // guards what follows
  std::deque<std::pair<gpu::EventRef, FedRef>> borrowed_;   // others' memory, until the GPU is done with it
  std::vector<std::string> sources_;
  std::set<std::string> known_;
};

// The batch's device memory that was given from outside is there when its event has passed. `gpu`: null, if the plan
// has no segment on a GPU, and the memory is only handed on.
void order_fed(Batch& b, const GpuRunner* gpu);

}  // namespace ps
