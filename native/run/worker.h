// What a thread does with some samples in one phase.
#pragma once

#include <memory>
#include <vector>

#include "rows/frames.h"
#include "run/batch.h"
#include "run/pass_counts.h"
#include "run/plan.h"
#include "run/stats.h"
#include "run/trace.h"

namespace ps {

// What went wrong, of a node that is known.
struct Blamed {
  Failure failure;
};

class Worker {
 public:
  Worker(const Plan& plan, std::shared_ptr<Pool> pool, int index, std::shared_ptr<Trace> trace);
  // Samples first..last-1; those that need no result any more are left out. `now`: the time.
  void setup(Batch& batch, const Segment& segment, int first, int last, int64_t now);
  void run(Batch& batch, const Segment& segment, int first, int last, int64_t now);
  std::vector<NodeStats> stats;                // by node
  std::vector<PassCounts> passes;              // by Group::counted
  static constexpr int kMostSamples = 64;      // at a time
  static constexpr size_t kMaxStages = 64;     // of a row pipeline
  static constexpr Misfit kNoRows = "it does not work on rows";
  static constexpr uint64_t kClockEvery = 8;   // while a profile is recorded: of row pipelines, those with clocks

 private:
  Context context(Batch& batch, int node, int sample);
  bool setup_node(Batch& batch, int node, int sample);
  void run_sample(Batch& batch, const Segment& segment, int sample);
  int64_t lap();
  void allocate(Batch& batch, const Node& node, int sample, Arena& arena);
  void run_node(int node, const Context& c);
  void run_host_parts(Batch& batch, const Segment& segment, int sample);
  void run_alone(Batch& batch, const Group& group, int sample);
  // Whose sample does not fit a row pipeline, and why.
  struct RowsMisfit {
    int node = -1;
    Misfit why = fits;
    bool done = false;                         // all the same, part of it in one pass
  };
  void run_group(Batch& batch, const Group& group, int sample);
  RowsMisfit run_rows(Batch& batch, const Group& group, int sample);
  RowsMisfit run_frames(Batch& batch, const Group& group, int sample, const SequenceSource& source);
  Failure blamed(const Batch& batch, int node, int sample) const;    // for the exception that is being handled

  const Plan& plan_;
  std::shared_ptr<Pool> pool_;
  int index_;
  std::shared_ptr<Trace> trace_;
  int64_t clock_ns_ = 0;                       // start of the current interval
  uint64_t pipelines_ = 0;                     // run while a profile is recorded
  Arena scratch_;                              // of one call
  Arena local_;                                // of one sample's run: values that nobody else reads
  std::vector<std::unique_ptr<State>> states_; // by node
  std::vector<const Tensor*> in_, args_;       // the current contexts' pointers
  std::vector<Tensor*> out_;
};

}  // namespace ps
