#include "run/scheduler.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "run/worker.h"

namespace ps {
namespace {

// Samples that are done in no time are taken several at a time, so that a thread keeps at it for about as long as
// another one needs to be woken. Longer than this, and others would have to wait for it at the end of a phase.
constexpr int64_t kShortNs = 10'000, kLongNs = 40'000;

constexpr int64_t kRetryNs = 5'000'000;
// How long the oldest batch waits for memory while its consumer waits for it: other pipelines may give some back.
constexpr int64_t kPatienceNs = 1'000'000'000;

}  // namespace

Scheduler::Scheduler(std::shared_ptr<const Plan> plan, const Options& options, std::shared_ptr<Trace> trace)
    : plan_(std::move(plan)), options_(options), trace_(std::move(trace)) {
  chunk_sizes_.resize(plan_->segments.size(), {1, 1});
}

void Scheduler::add(BatchRef b) {
  Lock lock(mutex);
  b->number = scheduled_++;
  batches.push_back(b);
  enter(*b);
  mark(*b);
  if (b->is_finished()) done.notify_all();
  python_work.notify_all();
  const Wanted some = wanted();
  lock.unlock();
  wake(some);
}

int64_t Scheduler::scheduled() {
  std::lock_guard lock(mutex);
  return scheduled_;
}

Scheduler::BatchRef Scheduler::take() {
  BatchRef b = batches.front();
  batches.pop_front();
  taken_ = b->number + 1;
  return b;
}

Scheduler::Batches Scheduler::clear() {
  for (auto& b : batches) b->cancelled = true;
  Batches gone = std::move(batches);
  batches.clear();
  done.notify_all();
  taken_ = scheduled_;
  deferred = 0;
  awaited = false;
  return gone;
}

void Scheduler::stop() {
  std::lock_guard lock(mutex);
  stopped = true;
  done.notify_all();
  python_work.notify_all();
}

bool Scheduler::may_start(const Batch& b) const {
  if (b.phase == Phase::setup) return true;
  if (b.deferral.retry_ns && now_ns() < b.deferral.retry_ns) return false;
  const bool on_gpu = segment(b).device_memory;
  if (on_gpu && b.phase == Phase::prepare && !is_next(b)) return false;
  return b.number - taken_ < (on_gpu ? options_.gpu_depth : options_.depth);
}

// Whether all older batches have their memory of this segment: a younger one's would not come back before theirs.
bool Scheduler::is_next(const Batch& b) const {
  return std::all_of(batches.begin(), batches.end(), [&](const auto& other) {
    return other->number >= b.number || other->is_finished() || other->segment > b.segment ||
           (other->segment == b.segment && other->phase > Phase::prepare);
  });
}

Batch* Scheduler::find(bool io) {
  for (auto& b : batches)
    if (b->phase <= Phase::run && (segment(*b).where == Where::io) == io && b->next < b->pieces() && may_start(*b))
      return b.get();
  return nullptr;
}

Batch* Scheduler::find_gpu() {
  for (auto& b : batches) {
    if (b->ahead != Ahead::none) continue;
    if (b->phase == Phase::launch && b->next == 0) return b.get();
    if (b->phase == Phase::flight && *b->landed) return b.get();
  }
  return nullptr;
}

Batch* Scheduler::find_ahead() {
  for (auto& b : batches)
    if (b->ahead == Ahead::wanted) return b.get();
  return nullptr;
}

Scheduler::BatchRef Scheduler::find_call() {
  for (auto& b : batches) {
    if (b->phase != Phase::call || b->next == b->pieces() || !may_start(*b)) continue;
    const auto is_ahead = [&](const auto& other) {
      return other->number >= b->number || other->is_finished() || other->segment > b->segment;
    };
    if (std::all_of(batches.begin(), batches.end(), is_ahead)) return b;
  }
  return nullptr;
}

// A phase without work is passed over.
void Scheduler::enter(Batch& b) {
  while (true) {
    const bool given_up = b.is_given_up();
    if (given_up && b.gpu.recorder) {              // some of its work may be on the GPU: launching sees to that
      b.phase = Phase::launch;
      break;
    }
    if (given_up || b.segment == plan_->segments.size() || b.size == 0) {
      b.phase = Phase::finished;
      return;
    }
    const Segment& s = segment(b);
    if (s.where == Where::python) {
      b.phase = Phase::call;
      break;
    }
    if (b.phase == Phase::run && s.where == Where::gpu && b.gpu.recorder && b.gpu.recorder->has_ahead()) {
      b.ahead = Ahead::wanted;
      ahead_work.notify_all();
    }
    if (b.phase != Phase::run || (s.where == Where::gpu ? s.host_part : !s.groups.empty())) break;
    next_phase(b);
  }
  b.next = 0;
  b.left = b.pieces();
}

void Scheduler::next_phase(Batch& b) const {
  switch (b.phase) {
    case Phase::setup: b.phase = Phase::prepare; return;
    case Phase::prepare: b.phase = Phase::run; return;
    case Phase::run:
      if (segment(b).where != Where::gpu) break;
      b.phase = Phase::launch;
      return;
    case Phase::launch: case Phase::flight: case Phase::call: break;   // a flight only where the host follows
    case Phase::finished: return;
  }
  b.phase = Phase::setup;
  b.segment++;
}

void Scheduler::step(Batch& b) {
  next_phase(b);
  enter(b);
  mark(b);
  if (b.is_finished()) done.notify_all();
  gpu_work.notify_all();
  python_work.notify_all();
}

void Scheduler::advance(Batch& b) {
  b.end_phase();
  Lock lock(mutex);
  step(b);
  const Wanted some = wanted();
  lock.unlock();
  wake(some);
}

bool Scheduler::defer(Batch& b) {
  std::lock_guard lock(mutex);
  if (stopped || b.cancelled) return false;
  const int64_t now = now_ns();
  int64_t& since = b.deferral.since_ns;
  if (!awaited || batches.front().get() != &b) since = 0;
  else if (!since) since = now;
  else if (now - since > kPatienceNs) return false;
  b.deferral.retry_ns = now + kRetryNs;
  b.next = 0;
  deferred++;
  return true;
}

void Scheduler::undefer(Batch& b) { deferred -= std::exchange(b.deferral.retry_ns, 0) != 0; }

// By halves and doubles: one look at a noisy clock must not change much.
void Scheduler::adapt(int& chunk_size, int64_t took_ns, int samples) {
  if (took_ns > kLongNs) chunk_size = std::max(1, std::min(chunk_size, samples) / 2);
  else if (took_ns < kShortNs && samples == chunk_size) chunk_size = std::min(2 * chunk_size, Worker::kMostSamples);
}

// A worker that waits for memory polls for it; when it takes something else, another one must poll.
Scheduler::Wanted Scheduler::wanted() {
  constexpr int kMost = 2;                         // each of which wakes up to two more
  Wanted wanted{};
  for (bool io : {false, true}) {
    if (!workers[io].idle) continue;
    int tasks = deferred && !workers[io].polls ? 1 : 0;
    if (const Batch* b = find(io)) {
      const int size = chunk_size(*b);
      tasks = (b->pieces() - b->next + size - 1) / size;
    }
    wanted[io] = std::min({tasks, workers[io].idle, kMost});
  }
  return wanted;
}

void Scheduler::wake(Wanted wanted) {
  for (bool io : {false, true})
    for (int i = 0; i < wanted[io]; i++) workers[io].work.notify_one();
}

void Scheduler::mark(const Batch& b) {
  if (!trace_->on()) return;
  const int64_t now = now_ns();
  const Did did = b.is_finished() ? Did::finished : Did::phase;
  trace_->add(Trace::engine, did, int(b.segment), b.number, int(b.phase), now, now);
}

void Scheduler::mark_wait(const Batch& b, int64_t since_ns, bool taken) {
  if (trace_->on()) trace_->add(Trace::engine, Did::wait, -1, b.number, taken, since_ns, now_ns());
}

}  // namespace ps
