// Threads that wait for a file which does not answer. No call can end their waiting; they are left to themselves, with
// all that they may still touch when they come back.
#include <algorithm>
#include <cstdio>
#include <utility>

#include "run/executor.h"

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

// With the lock held. False: the thread does not wait for a file, or comes back just now.
bool Executor::leave_behind(Thread& t, const std::shared_ptr<Batch>& b) {
  if (t.in_hand != b.get() || !t.waiting->file || !t.answers.exchange(false)) return false;
  {
    std::lock_guard lock(b->mutex);                // from now on it reports nothing
    b->cancelled = true;
  }
  t.orphan = b;
  t.in_hand = nullptr;
  working_--;
  return true;
}

// Until no thread works on any of these batches, but for those that are left behind. `last`: such may come back now.
void Executor::wait_until_idle(std::unique_lock<std::mutex>& lock, const std::deque<std::shared_ptr<Batch>>& batches,
                               bool last) {
  const auto idle = [&] { return working_ == 0; };
  const auto is_left = [](auto& t) { return t->orphan != nullptr; };
  const auto all_back = [&] { return std::none_of(threads_.begin(), threads_.end(), is_left); };
  rest_.wait_for(lock, kGrace, [&] { return idle() && (!last || all_back()); });
  while (!idle()) {
    for (auto& t : threads_)
      for (auto& b : batches) leave_behind(*t, b);
    rest_.wait_for(lock, kGrace, idle);
  }
}

void Executor::stop() {
  std::lock_guard lock(mutex_);
  stop_ = true;
  done_.notify_all();
}

std::vector<std::string> Executor::close() {
  stop();
  std::unique_lock lock(mutex_);
  for (auto& b : batches_) b->cancelled = true;
  for (Crew& crew : crews_) crew.work.notify_all();
  gpu_work_.notify_all();
  early_work_.notify_all();
  wait_until_idle(lock, batches_, true);
  std::vector<std::string> files;
  for (auto& t : threads_) {
    const char* file = t->orphan ? t->waiting->file.load() : nullptr;
    if (!file) continue;                           // it ends now
    files.emplace_back(file);
    t->thread.detach();
  }
  lock.unlock();
  for (auto& t : threads_) {
    if (!t->thread.joinable()) continue;
    t->thread.join();
    t->worker = nullptr;
  }
  if (gpu_thread_.joinable()) gpu_thread_.join();
  if (early_thread_.joinable()) early_thread_.join();
  if (gpu_)
    for (auto& b : batches_) gpu_->abandon(*b);
  batches_.clear();
  const bool shared = gpu_ != nullptr;             // the pool is the device's
  gpu_.reset();                                    // waits for its streams, and for calls of landed()
  if (!files.empty() && !shared) pool_->release_unused();
  return files;
}

// With the lock held: one that keeps this batch from going on.
const Executor::Thread* Executor::stuck_thread(const Batch& b) const {
  const int64_t limit = now_ns() - read_timeout_ns_;
  const auto waits_long = [&](const auto& t) {
    return (t->in_hand || t->orphan) && t->waiting->file && t->waiting->since_ns < limit;
  };
  for (auto& t : threads_)
    if (t->in_hand == &b && waits_long(t)) return t.get();
  const auto reads = [](const auto& t) { return t->io; };
  const auto may_go_on = [&](const auto& t) { return reads(t) && !waits_long(t); };
  const bool none_left = std::none_of(threads_.begin(), threads_.end(), may_go_on);
  return none_left ? std::find_if(threads_.begin(), threads_.end(), reads)->get() : nullptr;
}

// With the lock held: fails the oldest batch if a file that it needs has not answered for too long. False: it goes on,
// or a thread is about to be done with it.
bool Executor::give_up_reading() {
  const std::shared_ptr<Batch> b = batches_.front();
  if (!read_timeout_ns_ || b->phase > Phase::run || segment(*b).where != Where::io) return false;
  if (!b->cancelled) {
    const Thread* stuck = stuck_thread(*b);
    if (!stuck) return false;
    const char* file = stuck->waiting->file;
    if (!file) return false;                       // an answer, at last
    Failure f{ErrorKind::read, stuck->waiting->node, -1, "", file};
    if (stuck->in_hand == b.get()) f.sample = stuck->waiting->sample;
    else f.message = "all threads that read wait for files: ";
    f.message += std::string("the file ") + file + " has not answered for " + seconds(read_timeout_ns_) +
                 " s, which is what PENSTOCK_READ_TIMEOUT allows";
    put_off_ -= std::exchange(b->retry_ns, 0) != 0;
    b->fail(std::move(f));
    b->end_phase();
    std::lock_guard lock(b->mutex);
    b->cancelled = true;
  }
  for (auto& t : threads_) leave_behind(*t, b);
  b->finished = std::none_of(threads_.begin(), threads_.end(), [&](auto& t) { return t->in_hand == b.get(); });
  return b->finished;
}

}  // namespace ps
