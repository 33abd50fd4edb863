#include "run/executor.h"

#include <pthread.h>
#include <csignal>
#include <sched.h>

#include <algorithm>
#include <system_error>
#include <utility>

namespace ps {
namespace {

constexpr std::chrono::milliseconds kPoll{20};

// Binds it to these processors; none: it runs anywhere.
void prepare_thread(const std::string& name, int index, const std::vector<int>& cpus) {
  sigset_t all;
  sigfillset(&all);
  for (int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) sigdelset(&all, fault);   // or they end it without a word
  pthread_sigmask(SIG_BLOCK, &all, nullptr);       // Python's signals belong to Python's threads
  pthread_setname_np(pthread_self(), (name + "-" + std::to_string(index)).substr(0, 15).c_str());
  if (cpus.empty()) return;
  cpu_set_t set;
  CPU_ZERO(&set);
  for (int cpu : cpus) CPU_SET(cpu, &set);
  pthread_setaffinity_np(pthread_self(), sizeof set, &set);
}

}  // namespace

Executor::Executor(std::unique_ptr<Plan> plan, const Options& options)
    : plan_(std::move(plan)), pool_(std::make_shared<Pool>()), options_(options), started_ns_(now_ns()),
      read_timeout_ns_(options.read_timeout < 1e9 ? int64_t(options.read_timeout * 1e9) : 0) {
  if (plan_->uses_gpu()) {
    gpu_ = std::make_unique<GpuRunner>(*plan_, options.device, options.priority);
    pool_ = gpu_->device()->pinned();              // what the CPU makes goes to the GPU
  }
  const bool io = std::any_of(plan_->segments.begin(), plan_->segments.end(), [](auto& s) { return s.where == Where::io; });
  const int count = options.threads + (io ? options.io_threads : 0);
  trace_ = std::make_shared<Trace>(count);
  grains_.resize(plan_->segments.size(), {1, 1});
  for (int i = 0; i < count; i++) {
    auto t = std::make_unique<Thread>();
    t->index = i;
    t->io = i >= options.threads;
    t->worker = std::make_unique<Worker>(*plan_, pool_, i, trace_);
    threads_.push_back(std::move(t));
  }
}

std::shared_ptr<Executor> Executor::start(std::unique_ptr<Plan> plan, const Options& options) {
  const std::shared_ptr<Executor> self(new Executor(std::move(plan), options));
  try {
    self->start_threads(self);
  } catch (const std::system_error& e) {
    self->close();
    fail(ErrorKind::memory, std::string("the system refused a thread: ") + e.what());
  } catch (...) {
    self->close();
    throw;
  }
  return self;
}

void Executor::start_threads(const std::shared_ptr<Executor>& self) {
  const std::vector<int>& cpus = options_.cpus;
  for (int i = 0; i < int(threads_.size()); i++)
    threads_[size_t(i)]->thread = std::thread([this, self, i, &cpus] {
      Thread& t = *threads_[size_t(i)];
      if (t.io) prepare_thread(options_.name + "-io", i - options_.threads, cpus);
      else prepare_thread(options_.name, i, cpus.empty() ? cpus : std::vector{cpus[size_t(i) % cpus.size()]});
      t.waiting = &waiting();
      loop(t);
    });
  if (!gpu_) return;
  gpu_thread_ = std::thread([this] {
    prepare_thread(options_.name + "-gpu", 0, options_.cpus);
    gpu_loop();
  });
  early_thread_ = std::thread([this] {
    prepare_thread(options_.name + "-gpu", 1, options_.cpus);
    early_loop();
  });
}

void Executor::schedule(int size, std::vector<int64_t> ids, std::vector<int64_t> epochs,
                        std::vector<std::pair<int, FedRef>> fed) {
  auto b = std::make_shared<Batch>();
  b->size = size;
  b->ids = std::move(ids);
  b->epochs = std::move(epochs);
  b->plan = plan_;
  b->values.resize(plan_->values.size());
  for (size_t v = 0; v < plan_->values.size(); v++) b->values[v].resize(size_t(size), plan_->constants[v]);
  b->params.resize(plan_->params_bytes * size_t(size));
  b->value_memory.resize(plan_->values.size());
  for (auto& [v, given] : fed) {
    if (given->samples.size() != size_t(size))
      fail(ErrorKind::argument, "an iteration of " + std::to_string(size) + " samples was given " +
                                    std::to_string(given->samples.size()));
    b->values[size_t(v)] = given->samples;
    for (Tensor& t : b->values[size_t(v)])         // what is made of them may outlive them
      if (t.source) t.source = b->texts.keep(t.source);
    b->value_memory[size_t(v)] = given->memory;
    if (given->buffer) b->device = given->buffer->device();
  }
  for (size_t v = 0; size && v < plan_->values.size(); v++)
    if (plan_->values[v].fed && b->values[v][0].dtype == DType::none)
      fail(ErrorKind::argument, "value " + std::to_string(v) + " of the plan was not fed");
  if (b->device && !gpu_) {                        // device memory that is only handed on
    gpu::Current current(*b->device);
    const gpu::CUstream stream = gpu::copy_stream(b->device);
    for (const auto& [v, given] : fed)
      if (given->buffer) given->buffer->order(stream);
    b->done = std::make_shared<gpu::Event>(b->device, stream);
  }
  b->fed = std::move(fed);
  for (size_t i = 0; i < threads_.size(); i++) b->arenas.push_back(std::make_unique<Arena>(pool_));
  std::unique_lock lock(mutex_);
  if (gpu_) b->arenas.push_back(std::make_unique<Arena>(pool_, shared_bytes_));
  if (gpu_) b->shared = b->arenas.back().get();
  b->number = scheduled_++;
  batches_.push_back(b);
  enter(*b);
  mark(*b);
  if (b->finished) done_.notify_all();
  const auto some = wanted();
  lock.unlock();
  wake(some);
}

bool Executor::may_start(const Batch& b) const {
  if (b.phase == Phase::setup) return true;
  if (b.retry_ns && now_ns() < b.retry_ns) return false;
  const bool on_gpu = segment(b).where == Where::gpu;
  if (on_gpu && b.phase == Phase::prepare && !is_next(b)) return false;
  return b.number - taken_ < (on_gpu ? options_.gpu_depth : options_.depth);
}

// Whether all older batches have their memory of this segment: a younger one's would not come back before theirs.
bool Executor::is_next(const Batch& b) const {
  return std::all_of(batches_.begin(), batches_.end(), [&](const auto& other) {
    return other->number >= b.number || other->finished || other->segment > b.segment ||
           (other->segment == b.segment && other->phase > Phase::prepare);
  });
}

Batch* Executor::find(bool io) {
  for (auto& b : batches_)
    if (!b->finished && b->phase <= Phase::run && (segment(*b).where == Where::io) == io && b->next < b->pieces() &&
        may_start(*b))
      return b.get();
  return nullptr;
}

Batch* Executor::find_gpu() {
  for (auto& b : batches_) {
    if (b->finished || b->early != Early::none) continue;
    if (b->phase == Phase::launch && b->next == 0) return b.get();
    if (b->phase == Phase::flight && *b->landed) return b.get();
  }
  return nullptr;
}

Batch* Executor::find_early() {
  for (auto& b : batches_)
    if (b->early == Early::wanted) return b.get();
  return nullptr;
}

void Executor::gpu_loop() {
  std::unique_lock lock(mutex_);
  const auto flying = [&] {
    return std::any_of(batches_.begin(), batches_.end(), [](auto& b) { return b->phase == Phase::flight; });
  };
  while (true) {
    Batch* b = nullptr;
    const auto found = [&] { return stop_ || (b = find_gpu()); };
    if (!flying()) gpu_work_.wait(lock, [&] { return found() || flying(); });
    else if (!gpu_work_.wait_for(lock, kPoll, found)) look_for_landings(lock);
    if (stop_) return;
    if (!b) continue;
    b->next = 1;                                   // ours
    working_++;
    lock.unlock();
    if (b->phase == Phase::launch) launch(b);
    else advance(b);
    lock.lock();
    if (--working_ == 0) rest_.notify_all();
  }
}

// The driver does not tell of landings once the GPU has failed. It is asked without the lock, which landed() takes on
// one of its threads.
void Executor::look_for_landings(std::unique_lock<std::mutex>& lock) {
  std::vector<std::pair<gpu::EventRef, std::shared_ptr<std::atomic<bool>>>> flights;
  for (auto& b : batches_)
    if (b->phase == Phase::flight) flights.emplace_back(b->done, b->landed);
  lock.unlock();
  for (const auto& [done, landed] : flights)
    if (done->passed()) *landed = true;
  flights.clear();
  lock.lock();
}

void Executor::early_loop() {
  std::unique_lock lock(mutex_);
  while (true) {
    Batch* b = nullptr;
    early_work_.wait(lock, [&] { return stop_ || (b = find_early()); });
    if (stop_) return;
    b->early = Early::under_way;
    working_++;
    lock.unlock();
    const int64_t start = now_ns();
    if (!b->failed && !b->cancelled) gpu_->launch_early(*b);
    if (trace_->on())
      trace_->add(Trace::early, Did::launch_early, int(b->segment), b->number, -1, start, now_ns());
    lock.lock();
    b->early = Early::none;
    gpu_work_.notify_all();
    if (--working_ == 0) rest_.notify_all();
  }
}

// Whether the host looks at what this GPU segment makes: operators do, or consumers of outputs in the host's memory.
bool Executor::host_follows(size_t segment) const {
  const auto& all = plan_->segments;
  if (std::any_of(all.begin() + long(segment) + 1, all.end(), [](const Segment& s) { return s.where != Where::gpu; }))
    return true;
  return std::any_of(plan_->outputs.begin(), plan_->outputs.end(), [&](int output) {
    const Value& value = plan_->values[size_t(plan_->origin(output))];
    return !value.fed && plan_->nodes[size_t(value.node)].host_output;
  });
}

void Executor::launch(Batch* b) {
  struct Landing {                                 // without the batch, whose memory can't be let go of in a callback
    Executor* executor;
    std::shared_ptr<std::atomic<bool>> landed;
  };
  const int64_t start = now_ns();
  const bool more = host_follows(b->segment);
  const auto landed = [](void* argument) {
    const std::unique_ptr<Landing> l(static_cast<Landing*>(argument));
    *l->landed = true;
    std::lock_guard lock(l->executor->mutex_);
    l->executor->gpu_work_.notify_all();
  };
  b->end_phase();                                  // what the GPU decoded early may have failed
  if (!b->failed && !b->cancelled) gpu_->launch(*b);
  if (trace_->on()) {
    trace_->add(Trace::launcher, Did::launch, int(b->segment), b->number, -1, start, now_ns());
    if (!b->failed && !b->cancelled) record_device(*b, start);
  }
  b->end_phase();
  if (b->failed || b->cancelled) gpu_->abandon(*b);
  if (!more || b->failed || b->cancelled) return advance(b);
  b->landed = std::make_shared<std::atomic<bool>>(false);
  auto landing = std::make_unique<Landing>(Landing{this, b->landed});
  if (gpu_->call_back(landed, landing.get())) landing.release();   // the callback's
  std::lock_guard lock(mutex_);
  b->phase = Phase::flight;
  mark(*b);
}

bool Executor::prepare(Batch& b) {
  if (b.failed || b.cancelled) return true;
  const Segment& s = segment(b);
  int node = -1;
  try {
    if (s.where == Where::gpu) gpu_->record(b, s, node);
    else give_memory(b, s, node);
  } catch (...) {
    const Failure f = failure_of(std::current_exception(), node);
    if (f.kind == ErrorKind::memory && put_off(b)) return false;
    b.fail(f);
  }
  return true;
}

// With the lock held. A phase without work is passed over.
void Executor::enter(Batch& b) {
  while (true) {
    const bool given_up = b.failed || b.cancelled;
    if (given_up && b.gpu.recorder) {              // some of its work may be on the GPU: launch() sees to that
      b.phase = Phase::launch;
      break;
    }
    if (given_up || b.segment == plan_->segments.size() || b.size == 0) {
      b.finished = true;
      return;
    }
    const Segment& s = segment(b);
    if (b.phase == Phase::run && s.where == Where::gpu && b.gpu.recorder && b.gpu.recorder->has_early()) {
      b.early = Early::wanted;
      early_work_.notify_all();
    }
    if (b.phase != Phase::run || (s.where == Where::gpu ? s.host_part : !s.groups.empty())) break;
    next_phase(b);
  }
  b.next = 0;
  b.left = b.pieces();
}

void Executor::next_phase(Batch& b) const {
  if (b.phase == Phase::setup) {
    b.phase = Phase::prepare;
  } else if (b.phase == Phase::prepare) {
    b.phase = Phase::run;
  } else if (b.phase == Phase::run && segment(b).where == Where::gpu) {
    b.phase = Phase::launch;
  } else {
    b.phase = Phase::setup;
    b.segment++;
  }
}

void Executor::advance(Batch* b) {
  b->end_phase();
  std::unique_lock lock(mutex_);
  step(*b);
  const auto some = wanted();
  lock.unlock();
  wake(some);
}

void Executor::step(Batch& b) {
  next_phase(b);
  enter(b);
  mark(b);
  if (b.finished) done_.notify_all();
  if (gpu_) gpu_work_.notify_all();
}

// Shapes are known: each value that outlives the segment gets one buffer, its samples one behind the other. `at` is the
// node in hand; where it fails, nothing has changed.
void Executor::give_memory(Batch& b, const Segment& s, int& at) {
  struct Block {
    int value;
    bool written;
    BufferRef memory;
  };
  std::vector<Block> blocks;
  for (int v : s.kept) {
    at = plan_->values[size_t(v)].node;
    const Node& node = plan_->nodes[size_t(plan_->values[size_t(v)].node)];
    if (node.alias) continue;                      // follows its input, below
    const size_t total = b.bytes(v);
    // What an early operator wrote stays where it is, unless it is so little that one block is better for all.
    constexpr size_t kSmall = 1 << 16;
    const bool written = node.early || b.values[size_t(v)][0].data;
    if (written && total > kSmall) continue;
    blocks.push_back({v, written, pool_->take(total)});
  }
  for (Block& block : blocks) b.place(block.value, std::move(block.memory), block.written);
  for (int n : s.nodes)
    if (const Node& node = plan_->nodes[size_t(n)]; node.alias) b.follow(node);
}

std::shared_ptr<Batch> Executor::wait(int timeout_ms) {
  std::unique_lock lock(mutex_);
  if (batches_.empty() && !stop_) fail(ErrorKind::stopped, "nothing is scheduled");
  const auto ready = [&] { return stop_ || batches_.empty() || batches_.front()->finished; };
  awaited_ = true;                                 // also between the calls of one that looks for Ctrl-C
  const int64_t since = now_ns();
  if (!done_.wait_for(lock, std::chrono::milliseconds(timeout_ms), ready) && !give_up_reading()) {
    mark_wait(*batches_.front(), since, false);
    return nullptr;
  }
  awaited_ = false;
  if (stop_ || batches_.empty()) fail(ErrorKind::stopped, "the pipeline was stopped while an iteration was awaited");
  auto b = batches_.front();
  batches_.pop_front();
  taken_ = b->number + 1;
  if (b->shared && !b->cancelled) shared_bytes_ = b->shared->taken();
  mark_wait(*b, since, true);
  const auto some = wanted();                      // a batch that waited for room may start
  lock.unlock();
  if (!b->cancelled) let_go(*b);                   // or a thread that waits for a file may still write to it
  wake(some);
  if (gpu_) {
    gpu_work_.notify_all();
    gpu_->let_go();
  }
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
  if (scattered) return;
  b.shared = nullptr;
  b.arenas.clear();
  for (size_t v = 0; v < b.values.size(); v++)
    if (std::find(plan_->outputs.begin(), plan_->outputs.end(), int(v)) == plan_->outputs.end()) b.values[v] = {};
}

int64_t Executor::scheduled() {
  std::lock_guard lock(mutex_);
  return scheduled_;
}

void Executor::cancel() {
  std::unique_lock lock(mutex_);
  for (auto& b : batches_) b->cancelled = true;
  const auto gone = std::move(batches_);
  batches_.clear();
  done_.notify_all();
  taken_ = scheduled_;
  put_off_ = 0;
  awaited_ = false;
  wait_until_idle(lock, gone, false);
  lock.unlock();
  if (gpu_)
    for (auto& b : gone) gpu_->abandon(*b);
}

}  // namespace ps
