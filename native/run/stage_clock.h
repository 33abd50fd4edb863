// How the time of a row pipeline divides among its stages: a clock before each stage measures what goes by below it.
// Reading the time for each row costs a little, so the engine puts clocks into some of the samples alone.
#pragma once

#include <vector>

#include "core/rows.h"
#include "run/stats.h"

namespace ps {

class StageClock : public RowSink {
 public:
  void watch(RowSink& below) { below_ = &below; }
  int64_t ns() const { return ns_; }
  void* place(int64_t y) override { return below_->place(y); }
  bool keeps_places() const override { return below_->keeps_places(); }
  void push(int64_t y, const void* row) override {
    const int64_t start = now_ns();
    below_->push(y, row);
    ns_ += now_ns() - start;
  }
  bool take(const void* picture, size_t stride) override {
    const int64_t start = now_ns();
    const bool taken = below_->take(picture, stride);
    ns_ += now_ns() - start;
    return taken;
  }

 private:
  RowSink* below_ = nullptr;
  int64_t ns_ = 0;
};

// Those of one pipeline of `nodes`, whose stages are all but the source, if number 0 is one.
class StageClocks {
 public:
  StageClocks(const std::vector<int>& nodes, bool source)
      : nodes_(nodes), first_(source ? 1 : 0), clocks_(nodes.size()), begin_ns_(nodes.size()) {}

  // Stage i took so long to begin, for this picture. What is to be pushed to it goes through the sink that is returned.
  RowSink& watch(size_t i, RowStage& stage, int64_t begin_ns) {
    begin_ns_[i] += begin_ns;
    clocks_[i].watch(stage);
    return clocks_[i];
  }
  // Divides what the pipeline took. Above the first stage is the source; where there is none, reading memory counts as
  // the first stage's.
  void add_to(std::vector<NodeStats>& stats, int64_t took) const {
    int64_t above = took;                            // time spent above the current stage
    for (int64_t ns : begin_ns_) above -= ns;
    for (size_t i = first_; i < nodes_.size(); i++) {
      if (i > 0) {
        stats[size_t(nodes_[i - 1])].stage_ns += above - clocks_[i].ns();
        above = clocks_[i].ns();
      }
      stats[size_t(nodes_[i])].stage_ns += begin_ns_[i];
    }
    stats[size_t(nodes_.back())].stage_ns += above;
  }

 private:
  const std::vector<int>& nodes_;
  size_t first_;
  std::vector<StageClock> clocks_;
  std::vector<int64_t> begin_ns_;
};

}  // namespace ps
