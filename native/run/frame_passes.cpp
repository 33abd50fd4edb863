// Sequences that go through a chain of operators frame by frame, so that no frame lies in memory before the last one.
#include <cstddef>
#include <optional>
#include <vector>

#include "run/stage_clock.h"
#include "run/worker.h"

namespace ps {
namespace {

// A row pipeline for each frame, of the stages that operators have for it.
class FramePasses : public SequenceSource::Frames {
 public:
  struct Stage {
    const RowOperator& op;
    const FrameStages& frames;
    const Context& context;
  };

  FramePasses(const std::vector<Stage>& stages, StageClocks* clocks) : stages_(stages), clocks_(clocks) {}

  RowSink& begin(int64_t frame, Window& wanted) override {
    const Stage& last = stages_.back();
    Tensor& output = last.context.out(0);
    if (last.op.stores()) sink_.emplace(output.data, RowFormat{});
    else sink_.emplace(frame_of(output, frame), last.op.format(output));
    begun_.clear();
    RowStage* previous = nullptr;
    RowSink* top = nullptr;
    for (size_t i = 0; i < stages_.size(); i++) {
      const int64_t start = clocks_ ? now_ns() : 0;
      RowStage* stage = stages_[i].frames.begin_frame(stages_[i].context, frame);
      RowSink* entry = stage;
      if (clocks_) entry = &clocks_->watch(i + 1, *stage, now_ns() - start);
      (previous ? previous->next : top) = entry;
      previous = stage;
      begun_.push_back(stage);
    }
    previous->next = &*sink_;
    wanted = {0, 0, previous->out.width, previous->out.height};
    for (size_t i = begun_.size(); i-- > 0;) wanted = begun_[i]->demand(wanted);
    return *top;
  }

 private:
  const std::vector<Stage>& stages_;
  StageClocks* clocks_;
  std::vector<RowStage*> begun_;
  std::optional<MemorySink> sink_;
};

}  // namespace

// As many operators as take frames go in one pass, from the first on; the others come behind it, one by one.
Worker::RowsMisfit Worker::run_frames(Batch& batch, const Group& group, int sample, const SequenceSource& source) {
  in_.clear(); args_.clear(); out_.clear();
  Context contexts[kMaxStages];
  std::vector<FramePasses::Stage> stages;
  Group passed{{group.nodes[0]}}, rest;
  RowsMisfit misfit{group.nodes[0], "it stands alone"};
  contexts[0] = context(batch, group.nodes[0], sample);
  for (size_t i = 1; i < group.nodes.size(); i++) {
    const int node = group.nodes[i];
    const auto* op = dynamic_cast<const RowOperator*>(plan_.nodes[size_t(node)].op.get());
    const auto* frames = dynamic_cast<const FrameStages*>(op);
    contexts[i] = context(batch, node, sample);
    misfit = {node, !op ? kNoRows : frames ? frames->frames_misfit(contexts[i]) : "it takes no frames"};
    if (!misfit.why && !stages.empty() && stages.back().op.stores())
      misfit = {group.nodes[i - 1], "it writes another layout, which ends a pass"};
    if (misfit.why) break;
    stages.push_back({*op, *frames, contexts[i]});
    passed.nodes.push_back(node);
  }
  if (stages.empty()) return misfit;
  rest.nodes.assign(group.nodes.begin() + std::ptrdiff_t(passed.nodes.size()), group.nodes.end());
  std::optional<StageClocks> clocks;
  if (trace_->on() && pipelines_++ % kClockEvery == 0) clocks.emplace(passed.nodes, true);
  try {
    allocate(batch, plan_.nodes[size_t(passed.nodes.back())], sample, local_);
    for (int k = 1; k < contexts[0].num_outputs; k++)              // what it gives besides the sequence
      if (Tensor& t = contexts[0].out(k); !t.data) t.data = local_.take(t.bytes());
    FramePasses pass(stages, clocks ? &*clocks : nullptr);
    source.produce(contexts[0], pass);
  } catch (...) {
    throw Blamed{blamed(batch, group.nodes[0], sample)};
  }
  scratch_.clear();
  const int64_t took = lap();
  stats[size_t(group.nodes[0])].run_ns += took;
  if (clocks) clocks->add_to(stats, took);
  if (!rest.nodes.empty()) run_alone(batch, rest, sample);
  misfit.done = true;
  return misfit;
}

}  // namespace ps
