#include "run/gpu_runner.h"

#include <algorithm>
#include <iterator>

#include "core/nvtx.h"
#include "cuda/record/operator.h"

namespace ps {
namespace {

// Calls f; what it throws is a failure of `node`.
template <class F> void guarded(Batch& b, const int& node, F f) {
  const auto fail = [&](Failure f) {
    if (node >= 0 && f.sample >= 0) {
      f.sample = b.member(b.plan->nodes[size_t(node)].scope, f.sample);
      f.source = b.source(b.plan->nodes[size_t(node)], f.sample);
    }
    b.fail(std::move(f));
  };
  try {
    f();
  } catch (const Errors& errors) {
    for (const Error& e : errors.all) fail({e.kind, node, e.sample, e.what(), ""});
  } catch (...) {
    fail(failure_of(std::current_exception(), node));
  }
}

// Whether it is in a GPU's memory, or a copy in the host's that the GPU may still be at work on: where no CPU was in
// between, nobody has waited for it.
bool made_on_gpu(const Plan& plan, int value) {
  const int node = plan.values[size_t(plan.origin(value))].node;
  return plan.values[size_t(value)].gpu || (node >= 0 && plan.nodes[size_t(node)].host_output);
}

void wait_for_fed(const Batch& b, gpu::CUstream stream) {
  for (const auto& [value, fed] : b.fed)
    if (fed->buffer) fed->buffer->order(stream);
}

}  // namespace

GpuRunner::GpuRunner(const Plan& plan, int device, int priority)
    : plan_(plan), passes_(plan.counted_groups), device_(gpu::Device::get(device)), ahead_(device_, priority),
      front_(device_, priority), compute_(std::make_shared<gpu::Stream>(device_, priority)) {
  device_->enter();
}

GpuRunner::~GpuRunner() {
  for (const auto& [done, fed] : borrowed_) {
    try {
      done->wait();
    } catch (const Error&) {
      // Only a GPU that has failed cannot be waited for, and it does no work any more.
    }
  }
  device_->leave();
}

std::vector<Context> GpuRunner::contexts(Batch& b, int index) {
  const Node& node = plan_.nodes[size_t(index)];
  const int count = b.count(node.scope);
  std::vector<Context> all(static_cast<size_t>(count));
  for (int k = 0; k < count; k++) {
    const int i = b.member(node.scope, k);
    const auto tensor = [&](int v) { return &b.values[size_t(v)][size_t(i)]; };
    Context& c = all[size_t(k)];
    c.index = k;
    c.batch = count;
    if (node.scope >= 0) c.present = b.members[size_t(node.scope)].data();
    c.id = b.ids[size_t(i)];
    c.epoch = b.epochs[size_t(i)];
    c.first_id = b.ids[0];
    c.first_epoch = b.epochs[0];
    c.key = b.key(index);
    c.inputs = b.gpu.in.data() + b.gpu.in.size();
    for (int v : node.inputs) b.gpu.in.push_back(tensor(v));
    c.args = b.gpu.in.data() + b.gpu.in.size();
    for (int v : node.args) b.gpu.in.push_back(tensor(v));
    c.outputs = b.gpu.out.data() + b.gpu.out.size();
    for (int v : node.outputs) b.gpu.out.push_back(tensor(v));
    c.num_inputs = int(node.inputs.size());
    c.num_outputs = int(node.outputs.size());
    c.params = b.params.data() + size_t(i) * plan_.params_bytes + node.params_at;
    c.params_stride = plan_.params_bytes;
  }
  return all;
}

// One buffer for each output, its samples one behind the other.
void GpuRunner::give_memory(Batch& b, const Node& node, bool front) {
  for (int v : node.outputs) {
    const size_t total = b.bytes(v);
    const gpu::CUstream only = front ? nullptr : gpu::CUstream(*compute_);   // two streams may write what is in front
    b.place(v, node.host_output ? device_->pinned()->take(total) : device_->memory()->take(total, only));
  }
}

// What kept its nodes from being one kernel.
Passes GpuRunner::record_group(Batch& b, const Group& g) {
  std::vector<int> nodes = g.nodes;
  Passes passes{nodes[0], -1, fits, b.count(g.scope)};
  if (!passes.samples) {                           // no sample takes this branch
    for (int v : plan_.nodes[size_t(nodes.back())].outputs) b.place(v, device_->memory()->take(0));
    return passes;
  }
  const auto fused = [&](bool decoded) {
    const gpu::GroupMisfit misfit = record_fused(b, nodes, decoded);
    if (!misfit.why) return true;
    passes.misfit_node = nodes[misfit.stage];
    passes.why = misfit.why;
    return false;
  };
  if (nodes.size() > 1 && dynamic_cast<const PictureDecoder*>(plan_.nodes[size_t(nodes[0])].op.get())) {
    if (fused(true)) return passes;
    record_alone(b, nodes[0]);
    nodes.erase(nodes.begin());
  }
  if (nodes.size() > 1 && fused(false)) return passes;
  for (int n : nodes) record_alone(b, n);
  return passes;
}

// One kernel for all nodes, the first of which may be a decoder. If they do not fit, which of them and why; nothing is
// recorded then.
gpu::GroupMisfit GpuRunner::record_fused(Batch& b, const std::vector<int>& nodes, bool decoded) {
  gpu::Recorder& r = *b.gpu.recorder;
  std::vector<const StageOperator*> stages;
  for (size_t k = decoded; k < nodes.size(); k++) {
    stages.push_back(dynamic_cast<const StageOperator*>(plan_.nodes[size_t(nodes[k])].op.get()));
    if (!stages.back()) return {k, "it is no stage of kernels"};
  }
  const auto* decoder = decoded ? dynamic_cast<const PictureDecoder*>(plan_.nodes[size_t(nodes[0])].op.get()) : nullptr;
  gpu::DecodedInput input;
  if (decoder) {
    r.begin(nodes[0], contexts(b, nodes[0]), true);
    input.samples = decoder->samples(r);
    const auto planes = [](const gpu::DecodedSample& s) { return s.planes; };
    if (std::none_of(input.samples.begin(), input.samples.end(), planes))
      return {0, "no picture of the batch is decoded by kernels of our own"};
    input.views = static_cast<device::DecodedView*>(r.scratch(input.samples.size() * sizeof *input.views));
  }
  std::vector<std::vector<Context>> all;
  for (size_t k = decoded; k < nodes.size(); k++) all.push_back(contexts(b, nodes[k]));
  r.begin(nodes.back(), all.back(), false);
  give_memory(b, plan_.nodes[size_t(nodes.back())], false);
  if (const gpu::GroupMisfit misfit = r.fuse(stages, all, decoder ? &input : nullptr); misfit.why)
    return {misfit.stage + decoded, misfit.why};
  stages.back()->record_others(r);
  if (!decoder) return {};
  r.begin(nodes[0], contexts(b, nodes[0]), true);
  decoder->record_views(r, input);
  return {};
}

void GpuRunner::record_alone(Batch& b, int n) {
  gpu::Recorder& r = *b.gpu.recorder;
  const Node& node = plan_.nodes[size_t(n)];
  if (node.alias) return b.follow(node);
  const auto& op = dynamic_cast<const GpuOperator&>(*node.op);
  const auto from_gpu = [&](int v) { return made_on_gpu(plan_, v); };
  const bool front = std::none_of(node.inputs.begin(), node.inputs.end(), from_gpu);
  r.begin(n, contexts(b, n), front);
  give_memory(b, node, front);
  op.record(r);
}

// Nothing of it has been enqueued.
void GpuRunner::take_memory_back(Batch& b, const Segment& s) const {
  b.gpu = {};
  for (int n : s.nodes) {
    const Node& node = plan_.nodes[size_t(n)];
    if (node.early) continue;
    for (int v : node.outputs) {
      b.value_memory[size_t(v)].reset();
      if (node.alias && node.batchwise) continue;      // setup() has found where its samples are
      for (Tensor& t : b.values[size_t(v)]) t.data = nullptr;
    }
  }
}

void GpuRunner::record(Batch& b, const Segment& s, int& node) {
  const NvtxRange range("record");
  gpu::Current current(*device_);
  size_t in = 0, out = 0;
  for (int n : s.nodes) {
    const Node& each = plan_.nodes[size_t(n)];
    in += each.inputs.size() + each.args.size();
    out += each.outputs.size();
  }
  b.device = device_;
  std::vector<Passes> passes(plan_.counted_groups);
  try {
    b.gpu = {};
    b.gpu.recorder = std::make_unique<gpu::Recorder>(device_, ahead_, front_, *compute_);
    if (b.shared) b.gpu.recorder->set_file_blocks(b.shared->blocks());
    // What does not fit is recorded again: behind a decoder, and then alone.
    b.gpu.in.reserve(3 * in * size_t(b.size));
    b.gpu.out.reserve(3 * out * size_t(b.size));
    for (const Group& g : s.groups) {
      node = g.nodes.back();
      const Passes found = record_group(b, g);
      if (g.counted >= 0) passes[size_t(g.counted)] = found;
    }
  } catch (...) {
    take_memory_back(b, s);
    throw;
  }
  std::lock_guard lock(mutex_);
  for (size_t i = 0; i < passes.size(); i++) {
    if (passes[i].why) passes_[i].add(passes[i].samples, passes[i].misfit_node, passes[i].why);
    else passes_[i].add(passes[i].samples);
  }
  for (const std::string& source : b.gpu.recorder->sources())
    if (known_.insert(source).second) sources_.push_back(source);
}

void GpuRunner::launch_ahead(Batch& b) {
  const NvtxRange range("launch ahead");
  int node = -1;
  guarded(b, node, [&] {
    gpu::Current current(*device_);
    try {
      wait_for_fed(b, ahead_);
      b.gpu.recorder->run_ahead();
    } catch (...) {
      node = b.gpu.recorder->failed_node();
      throw;
    }
  });
}

void GpuRunner::launch(Batch& b) {
  const NvtxRange range("launch");
  int node = -1;
  guarded(b, node, [&] {
    gpu::Current current(*device_);
    gpu::Recorder& r = *b.gpu.recorder;
    try {
      wait_for_fed(b, front_);
      wait_for_fed(b, *compute_);
      r.run();
    } catch (...) {
      node = r.failed_node();
      throw;
    }
    b.done = std::make_shared<gpu::Event>(device_, *compute_);
    for (const BufferRef& m : r.take_memory()) m->add_fence(b.done);
    for (auto& arena : b.arenas) arena->add_fence(b.done);
    for (const auto& [value, fed] : b.fed) {
      if (fed->memory) fed->memory->add_fence(b.done);
      if (!fed->buffer) continue;
      fed->buffer->used(b.done);
      if (!fed->buffer->foreign()) continue;
      std::lock_guard lock(mutex_);
      borrowed_.emplace_back(b.done, fed);
    }
    for (size_t v = 0; v < b.value_memory.size(); v++) {
      if (b.value_memory[v]) b.value_memory[v]->add_fence(b.done);
      if (plan_.values[v].gpu && !plan_.values[v].kept) b.value_memory[v].reset();
    }
    b.gpu = {};                                        // else abandon() waits for what was enqueued
  });
}

bool GpuRunner::call_back(void (*function)(void*), void* argument) {
  gpu::Current current(*device_);
  return gpu::driver().cuLaunchHostFunc(*compute_, function, argument) == gpu::kSuccess;
}

void GpuRunner::abandon(Batch& b) {
  if (!b.gpu.recorder) return;
  gpu::Current current(*device_);
  gpu::driver().cuStreamSynchronize(ahead_);           // what was enqueued must not outlive its memory
  gpu::driver().cuStreamSynchronize(front_);
  gpu::driver().cuStreamSynchronize(*compute_);
  b.gpu = {};
}

void GpuRunner::let_go() {
  std::deque<std::pair<gpu::EventRef, FedRef>> all;
  {
    std::lock_guard lock(mutex_);
    all.swap(borrowed_);
  }
  const auto kept = std::find_if(all.begin(), all.end(), [](const auto& one) { return !one.first->passed(); });
  std::lock_guard lock(mutex_);                    // `all` outlives it
  borrowed_.insert(borrowed_.begin(), std::make_move_iterator(kept), std::make_move_iterator(all.end()));
}

std::vector<std::string> GpuRunner::sources() {
  std::lock_guard lock(mutex_);
  return sources_;
}

void order_fed(Batch& b, const GpuRunner* gpu) {
  if (!b.device) return;
  gpu::Current current(*b.device);
  const gpu::CUstream stream = gpu ? gpu::CUstream(*gpu->stream()) : gpu::copy_stream(b.device);
  for (const auto& [v, given] : b.fed)
    if (given->buffer) given->buffer->order(stream);
  b.done = std::make_shared<gpu::Event>(b.device, stream);
}

}  // namespace ps
