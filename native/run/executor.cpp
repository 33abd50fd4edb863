#include "run/executor.h"

#include <algorithm>
#include <chrono>
#include <system_error>

#include "core/foresees.h"

namespace ps {

Executor::Executor(std::unique_ptr<Plan> plan, const Options& options)
    : options_(options), plan_(std::move(plan)),
      trace_(std::make_shared<Trace>(WorkerPool::count(*plan_, options_))), scheduler_(plan_, options_, trace_) {
  if (plan_->uses_gpu()) gpu_ = std::make_unique<GpuThreads>(*plan_, options_, scheduler_, trace_);
  pool_ = gpu_ ? gpu()->device()->pinned() : std::make_shared<Pool>();   // what the CPU makes goes to the GPU
  workers_ = std::make_unique<WorkerPool>(*plan_, options_, scheduler_, pool_, gpu(), trace_);
  python_ = std::make_unique<PythonCalls>(*plan_, scheduler_, gpu(), trace_);
  timeout_ = std::make_unique<ReadTimeout>(scheduler_, *workers_, options_.read_timeout);
}

std::shared_ptr<Executor> Executor::start(std::unique_ptr<Plan> plan, const Options& options) {
  const std::shared_ptr<Executor> self(new Executor(std::move(plan), options));
  try {
    self->workers_->start(self);
    if (self->gpu_) self->gpu_->start();
  } catch (const std::system_error& e) {
    self->close();
    fail(ErrorKind::memory, std::string("the system refused a thread: ") + e.what());
  } catch (...) {
    self->close();
    throw;
  }
  return self;
}

void Executor::schedule(int size, std::vector<int64_t> ids, std::vector<int64_t> epochs,
                        std::vector<std::pair<int, FedRef>> fed, std::vector<uint64_t> keys) {
  auto b = std::make_shared<Batch>();
  b->size = size;
  b->ids = std::move(ids);
  b->epochs = std::move(epochs);
  b->keys = std::move(keys);
  b->plan = plan_;
  b->values.resize(plan_->values.size());
  for (size_t v = 0; v < plan_->values.size(); v++) b->values[v].resize(size_t(size), plan_->constants[v]);
  b->params.resize(plan_->params_bytes * size_t(size));
  b->value_memory.resize(plan_->values.size());
  b->members.resize(plan_->scopes.size());
  for (auto& [v, given] : fed) {
    if (given->samples.size() != size_t(size))
      fail(ErrorKind::argument, "an iteration of " + std::to_string(size) + " samples was given " +
                                    std::to_string(given->samples.size()));
    b->feed(v, std::move(given));
  }
  for (size_t v = 0; size && v < plan_->values.size(); v++)
    if (plan_->values[v].fed && b->values[v][0].dtype == DType::none)
      fail(ErrorKind::argument, "value " + std::to_string(v) + " of the plan was not fed");
  if (!gpu_) order_fed(*b, nullptr);
  for (size_t i = 0; i < workers_->threads().size(); i++) b->arenas.push_back(std::make_unique<Arena>(pool_));
  if (gpu_) {
    std::unique_lock lock(scheduler_.mutex);
    const size_t expected = scheduler_.shared_bytes;
    lock.unlock();
    b->arenas.push_back(std::make_unique<Arena>(pool_, expected));
    b->shared = b->arenas.back().get();
  }
  for (const Node& node : plan_->nodes) {
    const int v = node.inputs.empty() ? -1 : node.inputs[0];
    const auto* op = dynamic_cast<const Foresees*>(node.op.get());
    if (op && v >= 0 && plan_->values[size_t(v)].fed && !plan_->values[size_t(v)].gpu)
      op->foresee(b->values[size_t(v)], b->foreseen);
  }
  scheduler_.add(std::move(b));
}

std::shared_ptr<Batch> Executor::wait(int timeout_ms) {
  Scheduler& s = scheduler_;
  Scheduler::Lock lock(s.mutex);
  if (s.batches.empty() && !s.stopped) fail(ErrorKind::stopped, "nothing is scheduled");
  const auto ready = [&] { return s.stopped || s.batches.empty() || s.batches.front()->is_finished(); };
  s.awaited = true;                                // also between the calls of one that looks for Ctrl-C
  const int64_t since = now_ns();
  if (!s.done.wait_for(lock, std::chrono::milliseconds(timeout_ms), ready) && !timeout_->expire()) {
    s.mark_wait(*s.batches.front(), since, false);
    return nullptr;
  }
  s.awaited = false;
  if (s.stopped || s.batches.empty())
    fail(ErrorKind::stopped, "the pipeline was stopped while an iteration was awaited");
  const std::shared_ptr<Batch> b = s.take();
  if (b->shared && !b->cancelled) s.shared_bytes = b->shared->taken();
  s.mark_wait(*b, since, true);
  const auto some = s.wanted();                    // a batch that waited for room may start
  lock.unlock();
  if (!b->cancelled) let_go(*b);                   // or a thread that waits for a file may still write to it
  s.wake(some);
  s.python_work.notify_all();
  s.gpu_work.notify_all();
  if (gpu_) gpu()->let_go();
  return b;
}

// A consumer may hold its tensors for long; file contents and intermediate values need not wait for it.
void Executor::let_go(Batch& b) const {
  bool scattered = false;                          // an output that lies in the arenas
  std::vector<BufferRef> keep(b.value_memory.size());
  for (int v : plan_->outputs) {
    keep[size_t(v)] = b.value_memory[size_t(v)];
    scattered |= !b.value_memory[size_t(v)] && !plan_->values[size_t(v)].fed;
  }
  b.value_memory = std::move(keep);
  std::erase_if(b.fed, [&](const auto& given) {    // others' memory that outputs show stays
    return std::none_of(plan_->outputs.begin(), plan_->outputs.end(),
                        [&](int v) { return plan_->origin(v) == given.first; });
  });
  b.params = {};
  b.foreseen = {};
  if (scattered) return;
  b.shared = nullptr;
  b.arenas.clear();
  for (size_t v = 0; v < b.values.size(); v++)
    if (std::find(plan_->outputs.begin(), plan_->outputs.end(), int(v)) == plan_->outputs.end()) b.values[v] = {};
}

void Executor::cancel() {
  Scheduler::Lock lock(scheduler_.mutex);
  const Scheduler::Batches gone = scheduler_.clear();
  timeout_->wait_until_idle(lock, gone, false);
  lock.unlock();
  if (gpu_)
    for (auto& b : gone) gpu()->abandon(*b);
}

std::vector<std::string> Executor::close() {
  stop();
  Scheduler& s = scheduler_;
  Scheduler::Lock lock(s.mutex);
  for (auto& b : s.batches) b->cancelled = true;
  for (Scheduler::Workers& workers : s.workers) workers.work.notify_all();
  s.gpu_work.notify_all();
  s.ahead_work.notify_all();
  timeout_->wait_until_idle(lock, s.batches, true);
  const std::vector<std::string> files = timeout_->detach();
  lock.unlock();
  workers_->join();
  if (gpu_) {
    gpu_->join();
    for (auto& b : s.batches) gpu()->abandon(*b);
  }
  s.batches.clear();
  const bool shared = gpu_ != nullptr;             // the pool is the device's
  gpu_.reset();                                    // waits for its streams, and for calls of landed()
  if (!files.empty() && !shared) pool_->release_unused();
  return files;
}

std::vector<NodeStats> Executor::stats() const {
  std::vector<NodeStats> sum(plan_->nodes.size());
  workers_->add_to(sum);
  python_->add_to(sum);
  return sum;
}

std::vector<Passes> Executor::passes() const {
  std::vector<Passes> all;
  for (const Segment& s : plan_->segments)
    for (const Group& g : s.groups) {
      if (g.counted < 0) continue;
      const auto list = [&](const std::vector<PassCounts>& counts) { counts[size_t(g.counted)].list(g.nodes[0], all); };
      if (s.where == Where::gpu) list(gpu_->runner().passes());
      else
        for (const auto& t : workers_->threads()) list(t->worker->passes);
    }
  return all;
}

void Executor::record(bool on) {
  std::lock_guard lock(scheduler_.mutex);
  if (!on) return trace_->stop();
  trace_->start();
  for (auto& b : scheduler_.batches) scheduler_.mark(*b);
}

}  // namespace ps
