#include "run/worker_pool.h"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <chrono>
#include <csignal>

namespace ps {
namespace {

constexpr std::chrono::milliseconds kRetry{5};     // how often a worker looks whether there is memory

}  // namespace

void prepare_thread(const std::string& name, int index, const std::vector<int>& cpus) {
  sigset_t all;
  sigfillset(&all);
  for (int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) sigdelset(&all, fault);   // or they end it without a
                                                                                         // word
  pthread_sigmask(SIG_BLOCK, &all, nullptr);       // Python's signals belong to Python's threads
  pthread_setname_np(pthread_self(), (name + "-" + std::to_string(index)).substr(0, 15).c_str());
  if (cpus.empty()) return;
  cpu_set_t set;
  CPU_ZERO(&set);
  for (int cpu : cpus) CPU_SET(cpu, &set);
  pthread_setaffinity_np(pthread_self(), sizeof set, &set);
}

int WorkerPool::count(const Plan& plan, const Options& options) {
  const auto is_io = [](const Segment& s) { return s.where == Where::io; };
  return options.threads + (std::any_of(plan.segments.begin(), plan.segments.end(), is_io) ? options.io_threads : 0);
}

WorkerPool::WorkerPool(const Plan& plan, const Options& options, Scheduler& scheduler, std::shared_ptr<Pool> memory,
                       GpuRunner* gpu, std::shared_ptr<Trace> trace)
    : plan_(plan), options_(options), scheduler_(scheduler), memory_(std::move(memory)), gpu_(gpu),
      trace_(std::move(trace)) {
  for (int i = 0; i < count(plan, options); i++) {
    auto t = std::make_unique<Thread>();
    t->index = i;
    t->io = i >= options.threads;
    t->worker = std::make_unique<Worker>(plan, memory_, i, trace_);
    threads_.push_back(std::move(t));
  }
}

void WorkerPool::start(const std::shared_ptr<void>& owner) {
  const std::vector<int>& cpus = options_.cpus;
  for (int i = 0; i < int(threads_.size()); i++)
    threads_[size_t(i)]->thread = std::thread([this, owner, i, &cpus] {
      Thread& t = *threads_[size_t(i)];
      if (t.io) prepare_thread(options_.name + "-io", i - options_.threads, cpus);
      else prepare_thread(options_.name, i, cpus.empty() ? cpus : std::vector{cpus[size_t(i) % cpus.size()]});
      t.waiting = &waiting();
      loop(t);
    });
}

void WorkerPool::join() {
  for (auto& t : threads_) {
    if (!t->thread.joinable()) continue;
    t->thread.join();
    t->worker = nullptr;
  }
}

void WorkerPool::add_to(std::vector<NodeStats>& sum) const {
  for (auto& t : threads_)
    for (size_t n = 0; n < sum.size(); n++) {
      sum[n].setup_ns += t->worker->stats[n].setup_ns;
      sum[n].run_ns += t->worker->stats[n].run_ns;
      sum[n].stage_ns += t->worker->stats[n].stage_ns;
      sum[n].samples += t->worker->stats[n].samples;
    }
}

std::vector<std::pair<int64_t, int64_t>> WorkerPool::busy() const {
  std::vector<std::pair<int64_t, int64_t>> all;
  for (auto& t : threads_) all.emplace_back(t->busy_ns, now_ns() - started_ns_);
  return all;
}

void WorkerPool::loop(Thread& self) {
  Scheduler& s = scheduler_;
  Scheduler::Workers& mine = s.workers[self.io];
  Scheduler::Lock lock(s.mutex);
  while (true) {
    Batch* b = nullptr;
    const auto found = [&] { return s.stopped || (b = s.find(self.io)); };
    if (!found()) {
      s.wake(s.wanted());                          // the others may go on with what it finished
      mine.idle++;
      if (s.deferred && !mine.polls) {
        mine.polls = true;
        mine.work.wait_for(lock, kRetry, found);
        mine.polls = false;
      } else {
        mine.work.wait(lock, [&] { return found() || (s.deferred && !mine.polls); });
      }
      mine.idle--;
    }
    if (s.stopped) return;
    if (!b) continue;
    const Phase phase = b->phase;
    int& chunk_size = s.chunk_size(*b);
    const int first = b->next, last = std::min(first + chunk_size, b->pieces());
    b->next = last;
    s.undefer(*b);
    s.working++;
    self.task = b;
    self.owns_task = true;
    const auto some = s.wanted();
    lock.unlock();
    s.wake(some);
    self.waiting->cancelled = &b->cancelled;
    const int64_t start = now_ns();
    const bool done = work(self, *b, phase, first, last, start);
    const int64_t end = now_ns();
    // The host's part of a GPU segment has work for some samples only: all of those may come one behind the other.
    const bool regular = phase == Phase::setup || (phase == Phase::run && s.segment(*b).where != Where::gpu);
    const bool adapts = regular && !b->is_given_up();
    self.busy_ns += end - start;
    if (trace_->on() && phase != Phase::run)       // run: the worker says what
      trace_->add(self.index, phase == Phase::setup ? Did::setup : Did::prepare, int(b->segment), b->number, first,
                  start, end);
    const bool owns_task = self.owns_task.exchange(false);
    const bool last_one = owns_task && done && b->left.fetch_sub(last - first) == last - first;
    if (last_one) b->end_phase();
    lock.lock();
    if (!owns_task) {                              // abandoned while it was blocked, it returns
      auto abandoned = std::exchange(self.abandoned, nullptr);
      s.rest.notify_all();                         // closing hopes for it
      lock.unlock();
      abandoned = nullptr;                         // what ends with it may be others' code, which wants other locks
      lock.lock();
      continue;
    }
    if (adapts) Scheduler::adapt(chunk_size, end - start, last - first);
    self.task = nullptr;
    if (last_one) s.step(*b);
    s.end_work();                                  // cancel() waits for this
  }
}

bool WorkerPool::work(Thread& self, Batch& b, Phase phase, int first, int last, int64_t now) {
  const Segment& s = scheduler_.segment(b);
  if (phase == Phase::prepare) return prepare(b);
  if (phase == Phase::run) self.worker->run(b, s, first, last, now);
  else self.worker->setup(b, s, first, last, now);
  return true;
}

bool WorkerPool::prepare(Batch& b) {
  if (b.is_given_up()) return true;
  const Segment& s = scheduler_.segment(b);
  int node = -1;
  try {
    b.list_members(s);
    for (int n : s.nodes) b.check_alike(plan_.nodes[size_t(node = n)]);
    node = -1;
    if (s.where == Where::gpu) gpu_->record(b, s, node);
    else give_memory(b, s, node);
  } catch (...) {
    const Failure f = failure_of(std::current_exception(), node);
    if (f.kind == ErrorKind::memory && scheduler_.defer(b)) return false;
    b.fail(f);
  }
  return true;
}

// Shapes are known: each value that outlives the segment gets one buffer, its samples one behind the other. `at` is the
// current node, for errors; where it fails, nothing has changed.
void WorkerPool::give_memory(Batch& b, const Segment& s, int& at) {
  struct Block {
    int value;
    bool written;
    BufferRef memory;
  };
  std::vector<Block> blocks;
  for (int v : s.kept) {
    at = plan_.values[size_t(v)].node;
    const Node& node = plan_.nodes[size_t(at)];
    if (node.alias) continue;                      // follows its input, below
    const size_t total = b.bytes(v);
    // What an early operator wrote stays where it is, unless it is so little that one block is better for all.
    constexpr size_t kSmall = 1 << 16;
    const int some = b.count(plan_.values[size_t(v)].scope);
    const bool written = some && (node.early || b.sample(v, 0).data);
    if (written && total > kSmall) continue;
    // What is written there waits for nothing, so it is for no stream.
    blocks.push_back({v, written, node.device_output ? gpu_->device()->memory()->take(total) : memory_->take(total)});
  }
  if (s.device_memory) b.device = gpu_->device();
  for (Block& block : blocks) b.place(block.value, std::move(block.memory), block.written);
  for (int n : s.nodes)
    if (const Node& node = plan_.nodes[size_t(n)]; node.alias) b.follow(node);
}

}  // namespace ps
