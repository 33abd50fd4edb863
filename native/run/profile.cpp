// What an executor tells of its work: sums since its start, and spans of time while somebody records.
#include <algorithm>

#include "run/executor.h"

namespace ps {

std::vector<NodeStats> Executor::stats() {
  std::vector<NodeStats> sum(plan_->nodes.size());
  for (auto& t : threads_)
    for (size_t n = 0; n < sum.size(); n++) {
      sum[n].setup_ns += t->worker->stats[n].setup_ns;
      sum[n].run_ns += t->worker->stats[n].run_ns;
      sum[n].stage_ns += t->worker->stats[n].stage_ns;
      sum[n].samples += t->worker->stats[n].samples;
    }
  return sum;
}

std::vector<Passes> Executor::passes() const {
  std::vector<Passes> all;
  for (const Segment& s : plan_->segments)
    for (const Group& g : s.groups) {
      if (g.counted < 0) continue;
      if (s.where == Where::gpu) gpu_->passes()[size_t(g.counted)].list(g.nodes[0], all);
      else
        for (const auto& t : threads_) t->worker->passes[size_t(g.counted)].list(g.nodes[0], all);
    }
  return all;
}

std::vector<std::pair<int64_t, int64_t>> Executor::busy() {
  std::vector<std::pair<int64_t, int64_t>> all;
  for (auto& t : threads_) all.emplace_back(t->busy_ns, now_ns() - started_ns_);
  return all;
}

void Executor::record(bool on) {
  std::lock_guard lock(mutex_);
  if (!on) return trace_->stop();
  trace_->start();
  for (auto& b : batches_) mark(*b);
}

// With the lock held.
void Executor::mark(const Batch& b) {
  if (!trace_->on()) return;
  const int64_t now = now_ns();
  trace_->add(Trace::engine, b.finished ? Did::finished : Did::phase, int(b.segment), b.number, int(b.phase), now, now);
}

// With the lock held.
void Executor::mark_wait(const Batch& b, int64_t since_ns, bool taken) {
  if (trace_->on()) trace_->add(Trace::engine, Did::wait, -1, b.number, taken, since_ns, now_ns());
}

// Has the GPU tell when it is done with what it was given since then. The executor may be gone when it does.
void Executor::record_device(const Batch& b, int64_t launched_ns) {
  struct Launched {
    std::shared_ptr<Trace> trace;
    int segment;
    int64_t batch, start_ns;
  };
  auto launched = std::make_unique<Launched>(Launched{trace_, int(b.segment), b.number, launched_ns});
  const auto done = [](void* argument) {
    const std::unique_ptr<Launched> l(static_cast<Launched*>(argument));
    l->trace->add_device(l->segment, l->batch, l->start_ns, now_ns());
  };
  if (gpu_->call_back(done, launched.get())) launched.release();   // the callback's
}

}  // namespace ps
