#include "run/gpu_threads.h"

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

namespace ps {
namespace {

constexpr std::chrono::milliseconds kPoll{20};

}  // namespace

GpuThreads::GpuThreads(const Plan& plan, const Options& options, Scheduler& scheduler, std::shared_ptr<Trace> trace)
    : plan_(plan), options_(options), scheduler_(scheduler), trace_(std::move(trace)),
      runner_(plan, options.device, options.priority) {}

void GpuThreads::start() {
  launcher_ = std::thread([this] {
    prepare_thread(options_.name + "-gpu", 0, options_.cpus);
    launch_loop();
  });
  ahead_ = std::thread([this] {
    prepare_thread(options_.name + "-gpu", 1, options_.cpus);
    ahead_loop();
  });
}

void GpuThreads::join() {
  if (launcher_.joinable()) launcher_.join();
  if (ahead_.joinable()) ahead_.join();
}

void GpuThreads::launch_loop() {
  Scheduler& s = scheduler_;
  Scheduler::Lock lock(s.mutex);
  const auto flying = [&] {
    return std::any_of(s.batches.begin(), s.batches.end(), [](auto& b) { return b->phase == Phase::flight; });
  };
  while (true) {
    Batch* b = nullptr;
    const auto found = [&] { return s.stopped || (b = s.find_gpu()); };
    if (!flying()) s.gpu_work.wait(lock, [&] { return found() || flying(); });
    else if (!s.gpu_work.wait_for(lock, kPoll, found)) look_for_landings(lock);
    if (s.stopped) return;
    if (!b) continue;
    b->next = 1;                                   // ours
    s.working++;
    lock.unlock();
    if (b->phase == Phase::launch) launch(*b);
    else s.advance(*b);
    lock.lock();
    s.end_work();
  }
}

// The driver makes no callbacks once the GPU has failed, so it is asked; without the lock, which landed() takes on one
// of its threads.
void GpuThreads::look_for_landings(Scheduler::Lock& lock) {
  std::vector<std::pair<gpu::EventRef, std::shared_ptr<std::atomic<bool>>>> flights;
  for (auto& b : scheduler_.batches)
    if (b->phase == Phase::flight) flights.emplace_back(b->done, b->landed);
  lock.unlock();
  for (const auto& [done, landed] : flights)
    if (done->passed()) *landed = true;
  flights.clear();
  lock.lock();
}

void GpuThreads::ahead_loop() {
  Scheduler& s = scheduler_;
  Scheduler::Lock lock(s.mutex);
  while (true) {
    Batch* b = nullptr;
    s.ahead_work.wait(lock, [&] { return s.stopped || (b = s.find_ahead()); });
    if (s.stopped) return;
    b->ahead = Ahead::under_way;
    s.working++;
    lock.unlock();
    const int64_t start = now_ns();
    if (!b->is_given_up()) runner_.launch_ahead(*b);
    if (trace_->on())
      trace_->add(Trace::ahead, Did::launch_ahead, int(b->segment), b->number, -1, start, now_ns());
    lock.lock();
    b->ahead = Ahead::none;
    s.gpu_work.notify_all();
    s.end_work();
  }
}

// Whether any of its nodes looks at elements in the host's memory.
bool GpuThreads::is_read_on_host(const Segment& s) const {
  if (s.where != Where::python) return s.where != Where::gpu;
  return std::any_of(s.nodes.begin(), s.nodes.end(), [&](int n) {
    const std::vector<int>& inputs = plan_.nodes[size_t(n)].inputs;
    return std::any_of(inputs.begin(), inputs.end(), [&](int v) { return !plan_.values[size_t(v)].gpu; });
  });
}

// Whether the host looks at what this GPU segment makes: operators do, or consumers of outputs in the host's memory.
bool GpuThreads::host_follows(size_t segment) const {
  const auto& all = plan_.segments;
  if (std::any_of(all.begin() + long(segment) + 1, all.end(), [&](const Segment& s) { return is_read_on_host(s); }))
    return true;
  return std::any_of(plan_.outputs.begin(), plan_.outputs.end(), [&](int output) {
    const Value& value = plan_.values[size_t(plan_.origin(output))];
    return !value.fed && plan_.nodes[size_t(value.node)].host_output;
  });
}

void GpuThreads::launch(Batch& b) {
  struct Landing {                                 // without the batch, whose memory can't be let go of in a callback
    Scheduler* scheduler;
    std::shared_ptr<std::atomic<bool>> landed;
  };
  const int64_t start = now_ns();
  const bool more = host_follows(b.segment);
  const auto landed = [](void* argument) {
    const std::unique_ptr<Landing> l(static_cast<Landing*>(argument));
    *l->landed = true;
    std::lock_guard lock(l->scheduler->mutex);
    l->scheduler->gpu_work.notify_all();
  };
  b.end_phase();                                   // what the GPU decoded ahead may have failed
  if (!b.is_given_up()) runner_.launch(b);
  if (trace_->on()) {
    trace_->add(Trace::launcher, Did::launch, int(b.segment), b.number, -1, start, now_ns());
    if (!b.is_given_up()) record_device(b, start);
  }
  b.end_phase();
  if (b.is_given_up()) runner_.abandon(b);
  if (!more || b.is_given_up()) return scheduler_.advance(b);
  b.landed = std::make_shared<std::atomic<bool>>(false);
  auto landing = std::make_unique<Landing>(Landing{&scheduler_, b.landed});
  if (runner_.call_back(landed, landing.get())) landing.release();   // the callback's
  std::lock_guard lock(scheduler_.mutex);
  b.phase = Phase::flight;
  scheduler_.mark(b);
}

// Has the GPU tell when it is done with what it was given since then. The executor may be gone when it does.
void GpuThreads::record_device(const Batch& b, int64_t launched_ns) {
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
  if (runner_.call_back(done, launched.get())) launched.release();   // the callback's
}

}  // namespace ps
