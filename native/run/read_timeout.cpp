#include "run/read_timeout.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <utility>

namespace ps {
namespace {

// How long stopping waits for files that are slow. Ctrl-C and the process's end wait as long.
constexpr std::chrono::seconds kGrace{1};

// Without a stream of the standard library: its locales crash where a process has two such libraries.
std::string seconds(int64_t ns) {
  char text[32];
  std::snprintf(text, sizeof(text), "%g", double(ns) * 1e-9);
  return text;
}

}  // namespace

ReadTimeout::ReadTimeout(Scheduler& scheduler, const WorkerPool& workers, double seconds)
    : scheduler_(scheduler), workers_(workers), limit_ns_(seconds < 1e9 ? int64_t(seconds * 1e9) : 0) {}

// False: the thread does not wait for a file, or comes back just now.
bool ReadTimeout::abandon(WorkerPool::Thread& t, const std::shared_ptr<Batch>& b) {
  if (t.task != b.get() || !t.waiting->file || !t.owns_task.exchange(false)) return false;
  {
    std::lock_guard lock(b->mutex);                // from now on it reports nothing
    b->cancelled = true;
  }
  t.abandoned = b;
  t.task = nullptr;
  scheduler_.working--;
  return true;
}

void ReadTimeout::wait_until_idle(Scheduler::Lock& lock, const Scheduler::Batches& batches, bool last) {
  const auto idle = [&] { return scheduler_.working == 0; };
  const auto is_left = [](auto& t) { return t->abandoned != nullptr; };
  const auto& threads = workers_.threads();
  const auto all_back = [&] { return std::none_of(threads.begin(), threads.end(), is_left); };
  scheduler_.rest.wait_for(lock, kGrace, [&] { return idle() && (!last || all_back()); });
  while (!idle()) {
    for (auto& t : threads)
      for (auto& b : batches) abandon(*t, b);
    scheduler_.rest.wait_for(lock, kGrace, idle);
  }
}

std::vector<std::string> ReadTimeout::detach() {
  std::vector<std::string> files;
  for (auto& t : workers_.threads()) {
    const char* file = t->abandoned ? t->waiting->file.load() : nullptr;
    if (!file) continue;                           // it ends now
    files.emplace_back(file);
    t->thread.detach();
  }
  return files;
}

// A thread that keeps this batch from going on, and has waited too long.
const WorkerPool::Thread* ReadTimeout::overdue(const Batch& b) const {
  const int64_t limit = now_ns() - limit_ns_;
  const auto waits_long = [&](const auto& t) {
    return (t->task || t->abandoned) && t->waiting->file && t->waiting->since_ns < limit;
  };
  const auto& threads = workers_.threads();
  for (auto& t : threads)
    if (t->task == &b && waits_long(t)) return t.get();
  const auto reads = [](const auto& t) { return t->io; };
  const auto may_go_on = [&](const auto& t) { return reads(t) && !waits_long(t); };
  const bool none_left = std::none_of(threads.begin(), threads.end(), may_go_on);
  return none_left ? std::find_if(threads.begin(), threads.end(), reads)->get() : nullptr;
}

bool ReadTimeout::expire() {
  const std::shared_ptr<Batch> b = scheduler_.batches.front();
  if (!limit_ns_ || b->phase > Phase::run || scheduler_.segment(*b).where != Where::io) return false;
  const auto& threads = workers_.threads();
  if (!b->cancelled) {
    const WorkerPool::Thread* thread = overdue(*b);
    if (!thread) return false;
    const char* file = thread->waiting->file;
    if (!file) return false;                       // an answer, at last
    Failure f{ErrorKind::read, thread->waiting->node, -1, "", file};
    if (thread->task == b.get()) f.sample = thread->waiting->sample;
    else f.message = "all threads that read wait for files: ";
    f.message += std::string("the file ") + file + " has not answered for " + seconds(limit_ns_) +
                 " s, which is what PENSTOCK_READ_TIMEOUT allows";
    scheduler_.undefer(*b);
    b->fail(std::move(f));
    b->end_phase();
    std::lock_guard lock(b->mutex);
    b->cancelled = true;
  }
  for (auto& t : threads) abandon(*t, b);
  if (std::any_of(threads.begin(), threads.end(), [&](auto& t) { return t->task == b.get(); })) return false;
  b->phase = Phase::finished;
  return true;
}

}  // namespace ps
