#include "run/worker.h"

#include <algorithm>
#include <bitset>
#include <optional>
#include <utility>

#include "core/nvtx.h"
#include "core/waiting.h"
#include "cuda/record/operator.h"
#include "rows/memory_rows.h"
#include "run/stage_clock.h"

namespace ps {
namespace {

// Pointers of all contexts of one group live side by side; this is far more than any group needs.
constexpr size_t kMaxPointers = 4096;

}  // namespace

Worker::Worker(const Plan& plan, std::shared_ptr<Pool> pool, int index, std::shared_ptr<Trace> trace)
    : stats(plan.nodes.size()), passes(plan.counted_groups), plan_(plan), pool_(pool), index_(index),
      trace_(std::move(trace)), scratch_(pool), local_(pool) {
  for (const Node& n : plan.nodes) states_.push_back(n.op->make_state());
  in_.reserve(kMaxPointers);
  args_.reserve(kMaxPointers);
  out_.reserve(kMaxPointers);
}

Context Worker::context(Batch& batch, int index, int sample) {
  const Node& node = plan_.nodes[size_t(index)];
  waiting().node.store(index, std::memory_order_relaxed);
  waiting().sample.store(sample, std::memory_order_relaxed);
  if (in_.size() + node.inputs.size() > kMaxPointers || args_.size() + node.args.size() > kMaxPointers ||
      out_.size() + node.outputs.size() > kMaxPointers)
    fail(ErrorKind::internal, "too many values in one group");
  auto tensor = [&](int v) { return &batch.values[size_t(v)][size_t(sample)]; };
  Context c;
  c.index = sample;
  c.batch = batch.size;
  if (node.scope >= 0) {
    const std::vector<int>& members = batch.members[size_t(node.scope)];
    if (!members.empty()) {                        // they are known; this sample is one of them
      c.index = int(std::lower_bound(members.begin(), members.end(), sample) - members.begin());
      c.batch = int(members.size());
      c.present = members.data();
    }
  }
  c.id = batch.ids[size_t(sample)];
  c.epoch = batch.epochs[size_t(sample)];
  c.first_id = batch.ids[0];
  c.first_epoch = batch.epochs[0];
  c.key = batch.key(index);
  c.inputs = in_.data() + in_.size();
  c.args = args_.data() + args_.size();
  c.outputs = out_.data() + out_.size();
  for (int v : node.inputs) in_.push_back(tensor(v));
  for (int v : node.args) args_.push_back(tensor(v));
  for (int v : node.outputs) out_.push_back(tensor(v));
  c.num_inputs = int(node.inputs.size());
  c.num_outputs = int(node.outputs.size());
  c.params = batch.params.data() + size_t(sample) * plan_.params_bytes + node.params_at;
  c.params_stride = plan_.params_bytes;
  c.state = states_[size_t(index)].get();
  c.scratch = &scratch_;
  c.lasting = batch.arenas[size_t(index_)].get();
  c.texts = &batch.texts;
  return c;
}

// Rethrows what is being handled as a Failure with the node, the sample and its file.
Failure Worker::blamed(const Batch& batch, int node, int sample) const {
  Failure f = failure_of(std::current_exception(), node);
  f.sample = sample;
  f.source = batch.source(plan_.nodes[size_t(node)], sample);
  return f;
}

void Worker::allocate(Batch& batch, const Node& node, int sample, Arena& arena) {
  for (size_t k = 0; k < node.outputs.size(); k++) {
    Tensor& t = batch.values[size_t(node.outputs[k])][size_t(sample)];
    if (t.dtype == DType::none) continue;          // the sample does not have this value
    if (node.shows_input()) t.data = batch.values[size_t(node.inputs[0])][size_t(sample)].data;
    else if (!t.data) t.data = arena.take(t.bytes());
  }
}

// What went by since the last lap: one look at the clock ends what was done and begins what comes next. Looking costs
// as much as the smallest operators do.
int64_t Worker::lap() {
  const int64_t now = now_ns();
  return now - std::exchange(clock_ns_, now);
}

void Worker::run_node(int index, const Context& c) {
  const Node& node = plan_.nodes[size_t(index)];
  if (!node.alias) {
    node.op->run(c);
    stats[size_t(index)].run_ns += lap();
  }
  scratch_.clear();
}

// Node by node, so that the clock is looked at once for all samples.
void Worker::setup(Batch& batch, const Segment& segment, int first, int last, int64_t now) {
  const NvtxRange range("setup");
  std::bitset<kMostSamples> failed;
  clock_ns_ = now;
  for (int n : segment.nodes) {
    int done = 0;
    for (int i = first; i < last; i++) {
      if (failed[size_t(i - first)] || !batch.needs(i) || !batch.has(plan_.nodes[size_t(n)].scope, i)) continue;
      if (setup_node(batch, n, i)) done++;
      else failed.set(size_t(i - first));
    }
    stats[size_t(n)].setup_ns += lap();
    stats[size_t(n)].samples += done;
  }
}

// False: it failed.
bool Worker::setup_node(Batch& batch, int index, int sample) {
  const Node& node = plan_.nodes[size_t(index)];
  in_.clear(); args_.clear(); out_.clear();
  try {
    const Context c = context(batch, index, sample);
    for (int k = 0; k < c.num_outputs; k++) {
      c.out(k).data = nullptr;
      c.out(k).source = c.num_inputs ? c.in(0).source : nullptr;
    }
    node.op->setup(c);
    scratch_.clear();
    for (int k = 0; k < c.num_outputs; k++) {
      const int scope = plan_.values[size_t(node.outputs[size_t(k)])].scope;
      if (scope != node.scope && !batch.has(scope, sample)) {
        c.out(k) = {};
        continue;
      }
      check_sound(c.out(k));
      if (node.shows_input() && c.out(k).bytes() != c.in(0).bytes())
        fail(ErrorKind::internal, "its output is not as large as its input, whose memory it shows");
    }
    if (!node.early) return true;
    stats[size_t(index)].setup_ns += lap();
    const Recorded recorded(*trace_, index_, Did::run, index, batch.number, sample);
    if (batch.shared) {
      std::lock_guard lock(batch.shared_mutex);
      allocate(batch, node, sample, *batch.shared);
    } else {
      allocate(batch, node, sample, *batch.arenas[size_t(index_)]);
    }
    run_node(index, c);
    return true;
  } catch (...) {
    batch.fail(blamed(batch, index, sample));
    return false;
  }
}

void Worker::run(Batch& batch, const Segment& segment, int first, int last, int64_t now) {
  clock_ns_ = now;
  for (int i = first; i < last; i++)
    if (batch.needs(i)) run_sample(batch, segment, i);
}

void Worker::run_sample(Batch& batch, const Segment& segment, int sample) {
  int at = -1;
  try {
    local_.clear();
    if (segment.where == Where::gpu) return run_host_parts(batch, segment, sample);
    for (const Group& g : segment.groups) {
      if (!batch.has(g.scope, sample)) continue;
      at = g.nodes.back();
      const NvtxRange range(g.name);
      const Recorded recorded(*trace_, index_, Did::run, g.nodes[0], batch.number, sample);
      run_group(batch, g, sample);
    }
  } catch (const Blamed& b) {
    batch.fail(b.failure);
  } catch (...) {
    batch.fail(blamed(batch, at, sample));
  }
}

// What the CPU does for operators of a GPU segment.
void Worker::run_host_parts(Batch& batch, const Segment& segment, int sample) {
  for (int n : segment.nodes) {
    const auto* op = dynamic_cast<const GpuOperator*>(plan_.nodes[size_t(n)].op.get());
    if (!op || !op->has_host_part() || !batch.has(plan_.nodes[size_t(n)].scope, sample)) continue;
    in_.clear(); args_.clear(); out_.clear();
    const NvtxRange range(plan_.nodes[size_t(n)].kernel);
    const Recorded recorded(*trace_, index_, Did::run, n, batch.number, sample);
    try {
      op->run_host(context(batch, n, sample));
    } catch (...) {
      throw Blamed{blamed(batch, n, sample)};
    }
    scratch_.clear();
    stats[size_t(n)].run_ns += lap();
  }
}

void Worker::run_group(Batch& batch, const Group& group, int sample) {
  const RowsMisfit misfit = group.no_rows < 0 ? run_rows(batch, group, sample) : RowsMisfit{group.no_rows, kNoRows};
  if (misfit.why && !misfit.done) run_alone(batch, group, sample);
  if (group.counted < 0) return;
  PassCounts& counts = passes[size_t(group.counted)];
  if (misfit.why) counts.add(1, misfit.node, misfit.why);
  else counts.add(1);
}

// One operator after the other, with memory between them.
void Worker::run_alone(Batch& batch, const Group& group, int sample) {
  for (int n : group.nodes) {
    const bool tried = group.nodes.size() == 1;
    if (!tried && plan_.nodes[size_t(n)].rows && !run_rows(batch, Group{{n}}, sample).why) continue;
    in_.clear(); args_.clear(); out_.clear();
    allocate(batch, plan_.nodes[size_t(n)], sample, local_);
    try {
      run_node(n, context(batch, n, sample));
    } catch (...) {
      throw Blamed{blamed(batch, n, sample)};
    }
  }
}

// The group as one row pipeline, unless this sample does not fit one.
Worker::RowsMisfit Worker::run_rows(Batch& batch, const Group& group, int sample) {
  if (group.nodes.size() > kMaxStages) return {group.nodes[kMaxStages], "there are too many stages"};
  if (const auto* source = dynamic_cast<const SequenceSource*>(plan_.nodes[size_t(group.nodes[0])].op.get()))
    return run_frames(batch, group, sample, *source);
  in_.clear(); args_.clear(); out_.clear();
  Context contexts[kMaxStages];
  const size_t count = group.nodes.size();
  const auto* source = dynamic_cast<const SourceOperator*>(plan_.nodes[size_t(group.nodes[0])].op.get());
  const size_t first = source ? 1 : 0;        // the first stage that is not the source
  for (size_t i = 0; i < count; i++) {
    contexts[i] = context(batch, group.nodes[i], sample);
    if (i < first) continue;
    const auto* op = static_cast<const RowOperator*>(plan_.nodes[size_t(group.nodes[i])].op.get());
    if (const Misfit why = op->rows_misfit(contexts[i])) return {group.nodes[i], why};
    if (op->stores() && i + 1 < count) return {group.nodes[i], "it writes another layout, which ends a pass"};
  }
  std::optional<StageClocks> clocks;
  if (trace_->on() && count > 1 && pipelines_++ % kClockEvery == 0) clocks.emplace(group.nodes, source != nullptr);
  int at = group.nodes[0];
  try {
    const Node& last = plan_.nodes[size_t(group.nodes[count - 1])];
    allocate(batch, last, sample, local_);
    const auto* last_op = dynamic_cast<const RowOperator*>(last.op.get());
    if (!last_op) {                             // a source alone
      last.op->run(contexts[0]);
    } else {
      Tensor& output = contexts[count - 1].out(0);
      MemorySink sink(output.data, last_op->stores() ? RowFormat{} : last_op->format(output));
      RowStage* stages[kMaxStages];
      RowStage* previous = nullptr;
      RowSink* top = nullptr;
      for (size_t i = first; i < count; i++) {
        at = group.nodes[i];
        const auto* op = static_cast<const RowOperator*>(plan_.nodes[size_t(at)].op.get());
        const int64_t begun = clocks ? now_ns() : 0;
        stages[i] = op->begin(contexts[i]);
        RowSink* entry = stages[i];
        if (clocks) entry = &clocks->watch(i, *stages[i], now_ns() - begun);
        (previous ? previous->next : top) = entry;
        previous = stages[i];
      }
      previous->next = &sink;
      Window w{0, 0, previous->out.width, previous->out.height};
      for (size_t i = count; i-- > first;) w = stages[i]->demand(w);
      at = group.nodes[0];
      if (source) {
        source->produce(contexts[0], w, *top);
      } else {
        const Tensor& input = contexts[0].in(0);
        const auto* op = static_cast<const RowOperator*>(plan_.nodes[size_t(at)].op.get());
        push_rows(input.data, op->format(input), w, *top);
      }
    }
  } catch (...) {
    throw Blamed{blamed(batch, at, sample)};
  }
  scratch_.clear();
  const int64_t took = lap();
  stats[size_t(group.nodes[0])].run_ns += took;
  if (clocks) clocks->add_to(stats, took);
  return {};
}

}  // namespace ps
