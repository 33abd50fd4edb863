#include "run/executor.h"

#include <pthread.h>
#include <csignal>
#include <sched.h>

#include <algorithm>

namespace ps {
namespace {

// Setup is short: taking several samples at a time keeps the lock cool.
constexpr int kSetupChunk = 8;

void prepare_thread(const std::string& name, int index, const std::vector<int>& cpus) {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);       // Python's signals belong to Python's threads
  pthread_setname_np(pthread_self(), (name + "-" + std::to_string(index)).substr(0, 15).c_str());
  if (cpus.empty()) return;
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpus[size_t(index) % cpus.size()], &set);
  pthread_setaffinity_np(pthread_self(), sizeof set, &set);
}

}  // namespace

Executor::Executor(std::unique_ptr<Plan> plan, const Options& options)
    : plan_(std::move(plan)), pool_(std::make_shared<Pool>()), options_(options), started_ns_(now_ns()) {
  const bool io = std::any_of(plan_->segments.begin(), plan_->segments.end(), [](auto& s) { return s.io; });
  const int count = options.threads + (io ? options.io_threads : 0);
  for (int i = 0; i < count; i++) {
    auto t = std::make_unique<Thread>();
    t->io = i >= options.threads;
    t->worker = std::make_unique<Worker>(*plan_, pool_, i);
    threads_.push_back(std::move(t));
  }
  for (int i = 0; i < count; i++)
    threads_[size_t(i)]->thread = std::thread([this, i] {
      Thread& self = *threads_[size_t(i)];
      prepare_thread(options_.name + (self.io ? "-io" : ""), self.io ? i - options_.threads : i,
                     self.io ? std::vector<int>{} : options_.cpus);
      loop(self);
    });
}

Executor::~Executor() {
  {
    std::lock_guard lock(mutex_);
    stop_ = true;
    for (auto& b : batches_) b->cancelled = true;
  }
  work_.notify_all();
  done_.notify_all();
  for (auto& t : threads_) t->thread.join();
}

void Executor::schedule(int size, std::vector<int64_t> ids, std::vector<int64_t> epochs,
                        std::vector<std::pair<int, std::vector<Tensor>>> fed, std::vector<BufferRef> memory) {
  auto b = std::make_shared<Batch>();
  b->size = size;
  b->ids = std::move(ids);
  b->epochs = std::move(epochs);
  b->memory = std::move(memory);
  b->plan = plan_;
  b->values.resize(plan_->values.size());
  for (size_t v = 0; v < plan_->values.size(); v++) b->values[v].resize(size_t(size), plan_->constants[v]);
  for (auto& [v, samples] : fed) b->values[size_t(v)] = std::move(samples);
  b->params.resize(plan_->params_bytes * size_t(size));
  b->value_memory.resize(plan_->values.size());
  for (size_t i = 0; i < threads_.size(); i++) b->arenas.push_back(std::make_unique<Arena>(pool_));
  {
    std::lock_guard lock(mutex_);
    b->number = scheduled_++;
    batches_.push_back(b);
    enter(*b);
    if (b->finished) done_.notify_all();
  }
  work_.notify_all();
}

bool Executor::may_start(const Batch& b) const {
  return !b.running || b.number < taken_ + options_.depth;
}

std::shared_ptr<Batch> Executor::find(bool io) {
  for (auto& b : batches_)
    if (!b->finished && plan_->segments[b->segment].io == io && b->next < b->size && may_start(*b)) return b;
  return nullptr;
}

void Executor::loop(Thread& self) {
  std::unique_lock lock(mutex_);
  while (true) {
    std::shared_ptr<Batch> b;
    work_.wait(lock, [&] { return stop_ || (b = find(self.io)); });
    if (stop_) return;
    const int chunk = b->running ? 1 : kSetupChunk;
    const int first = b->next, last = std::min(first + chunk, b->size);
    b->next = last;
    working_++;
    lock.unlock();
    const int64_t start = now_ns();
    for (int i = first; i < last; i++) work(self, *b, i);
    self.busy_ns += now_ns() - start;
    if (b->left.fetch_sub(last - first) == last - first) advance(b);
    b.reset();
    lock.lock();
    if (--working_ == 0) done_.notify_all();       // cancel() waits for this
  }
}

void Executor::work(Thread& self, Batch& b, int sample) {
  if (b.failed || b.cancelled) return;
  const Segment& s = plan_->segments[b.segment];
  if (b.running) self.worker->run(b, s, sample);
  else self.worker->setup(b, s, sample);
}

// With the lock held. A phase without work is passed over.
void Executor::enter(Batch& b) {
  while (true) {
    if (b.segment == plan_->segments.size() || b.failed || b.cancelled || b.size == 0) {
      b.finished = true;
      return;
    }
    if (!b.running || !plan_->segments[b.segment].groups.empty()) break;
    b.running = false;
    b.segment++;
  }
  b.next = 0;
  b.left = b.size;
}

void Executor::advance(const std::shared_ptr<Batch>& b) {
  if (!b->running && !b->failed && !b->cancelled) {
    try {
      give_memory(*b, plan_->segments[b->segment]);
    } catch (const Error& e) {
      b->fail({e.kind, -1, 0, e.what(), ""});
    }
  }
  bool finished;
  {
    std::lock_guard lock(mutex_);
    if (b->running) b->segment++;
    b->running = !b->running;
    enter(*b);
    finished = b->finished;
  }
  if (finished) done_.notify_all();
  work_.notify_all();
}

// Shapes are known: each value that outlives the segment gets one buffer, its samples one behind the other.
void Executor::give_memory(Batch& b, const Segment& s) {
  for (int v : s.kept) {
    const Node& node = plan_->nodes[size_t(plan_->values[size_t(v)].node)];
    if (node.alias) continue;                      // follows its input, below
    auto& samples = b.values[size_t(v)];
    size_t total = 0;
    for (Tensor& t : samples) total += t.bytes();
    // What an early operator wrote stays where it is, unless it is so little that one block is better for all.
    constexpr size_t kSmall = 1 << 16;
    const bool written = node.early || samples[0].data;
    if (written && total > kSmall) continue;
    BufferRef memory = pool_->take(total);
    uint8_t* p = memory->data();
    for (Tensor& t : samples) {
      if (written) std::memcpy(p, t.data, t.bytes());
      t.data = p;
      p += t.bytes();
    }
    b.value_memory[size_t(v)] = memory;
  }
  for (int n : s.nodes) {
    const Node& node = plan_->nodes[size_t(n)];
    if (!node.alias) continue;
    const size_t from = size_t(node.inputs[0]), to = size_t(node.outputs[0]);
    for (int i = 0; i < b.size; i++) b.values[to][size_t(i)].data = b.values[from][size_t(i)].data;
    b.value_memory[to] = b.value_memory[from];
  }
}

std::shared_ptr<Batch> Executor::wait(int timeout_ms) {
  std::unique_lock lock(mutex_);
  if (batches_.empty()) fail(ErrorKind::stopped, "nothing is scheduled");
  const auto ready = [&] { return stop_ || batches_.empty() || batches_.front()->finished; };
  if (!done_.wait_for(lock, std::chrono::milliseconds(timeout_ms), ready)) return nullptr;
  if (stop_ || batches_.empty()) fail(ErrorKind::stopped, "the pipeline was stopped while an iteration was awaited");
  auto b = batches_.front();
  batches_.pop_front();
  taken_ = b->number + 1;
  lock.unlock();
  let_go(*b);
  work_.notify_all();                              // a batch that waited for room may start
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
  b.params = {};
  if (scattered) return;
  b.arenas.clear();
  for (size_t v = 0; v < b.values.size(); v++)
    if (std::find(plan_->outputs.begin(), plan_->outputs.end(), int(v)) == plan_->outputs.end()) b.values[v] = {};
}

int Executor::pending() {
  std::lock_guard lock(mutex_);
  return int(batches_.size());
}

void Executor::cancel() {
  std::unique_lock lock(mutex_);
  for (auto& b : batches_) b->cancelled = true;
  batches_.clear();
  taken_ = scheduled_;
  done_.wait(lock, [&] { return working_ == 0; });
}

std::vector<NodeStats> Executor::stats() {
  std::vector<NodeStats> sum(plan_->nodes.size());
  for (auto& t : threads_)
    for (size_t n = 0; n < sum.size(); n++) {
      sum[n].setup_ns += t->worker->stats[n].setup_ns;
      sum[n].run_ns += t->worker->stats[n].run_ns;
      sum[n].samples += t->worker->stats[n].samples;
    }
  return sum;
}

std::vector<std::pair<int64_t, int64_t>> Executor::busy() {
  std::vector<std::pair<int64_t, int64_t>> all;
  for (auto& t : threads_) all.emplace_back(t->busy_ns, now_ns() - started_ns_);
  return all;
}

}  // namespace ps
