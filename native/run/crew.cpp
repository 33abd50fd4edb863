// What the threads do that work on samples: take some, and wake others for the rest.
#include <algorithm>
#include <utility>

#include "run/executor.h"

namespace ps {
namespace {

// Samples that are done in no time are taken several at a time, so that a thread keeps at it for about as long as
// another one needs to be woken. Longer than this, and others would have to wait for it at the end of a phase.
constexpr int64_t kShortNs = 10'000, kLongNs = 40'000;

constexpr std::chrono::milliseconds kRetry{5};
// How long the oldest batch waits for memory while its consumer waits for it: other pipelines may give some back.
constexpr int64_t kPatienceNs = 1'000'000'000;

}  // namespace

// With the lock held: how many of each crew are to be woken. A thread that waits for memory looks now and then whether
// there is some; when it takes something else, another one must do that.
std::array<int, 2> Executor::wanted() {
  constexpr int kMost = 2;                         // who wake two each, and so on
  std::array<int, 2> wanted{};
  for (bool io : {false, true}) {
    if (!crews_[io].idle) continue;
    int pieces = put_off_ && !crews_[io].polls ? 1 : 0;
    if (const Batch* b = find(io)) {
      const int grain = grains_[b->segment][b->phase == Phase::run];
      pieces = (b->pieces() - b->next + grain - 1) / grain;
    }
    wanted[io] = std::min({pieces, crews_[io].idle, kMost});
  }
  return wanted;
}

void Executor::wake(std::array<int, 2> wanted) {
  for (bool io : {false, true})
    for (int i = 0; i < wanted[io]; i++) crews_[io].work.notify_one();
}

void Executor::loop(Thread& self) {
  Crew& crew = crews_[self.io];
  std::unique_lock lock(mutex_);
  while (true) {
    Batch* b = nullptr;
    const auto found = [&] { return stop_ || (b = find(self.io)); };
    if (!found()) {
      wake(wanted());                              // the others may go on with what it finished
      crew.idle++;
      if (put_off_ && !crew.polls) {
        crew.polls = true;
        crew.work.wait_for(lock, kRetry, found);
        crew.polls = false;
      } else {
        crew.work.wait(lock, [&] { return found() || (put_off_ && !crew.polls); });
      }
      crew.idle--;
    }
    if (stop_) return;
    if (!b) continue;
    const Phase phase = b->phase;
    int& grain = grains_[b->segment][phase == Phase::run];
    const int first = b->next, last = std::min(first + grain, b->pieces());
    b->next = last;
    put_off_ -= std::exchange(b->retry_ns, 0) != 0;
    working_++;
    self.in_hand = b;
    self.answers = true;
    const auto some = wanted();
    lock.unlock();
    wake(some);
    const int64_t start = now_ns();
    const bool done = work(self, *b, phase, first, last, start);
    const int64_t end = now_ns();
    // The host's part of a GPU segment has work for some samples only: all of those may come one behind the other.
    const bool regular = phase == Phase::setup || (phase == Phase::run && segment(*b).where != Where::gpu);
    const bool adapts = regular && !b->failed && !b->cancelled;
    self.busy_ns += end - start;
    if (trace_->on() && phase != Phase::run)         // run: the worker says what
      trace_->add(self.index, phase == Phase::setup ? Did::setup : Did::prepare, int(b->segment), b->number, first,
                  start, end);
    const bool answers = self.answers.exchange(false);
    const bool last_one = answers && done && b->left.fetch_sub(last - first) == last - first;
    if (last_one) b->end_phase();
    lock.lock();
    if (!answers) {                                // it was left behind, and comes back
      auto orphan = std::exchange(self.orphan, nullptr);
      rest_.notify_all();                          // close() hopes for it
      lock.unlock();
      orphan = nullptr;                            // what ends with it may be others' code, which wants other locks
      lock.lock();
      continue;
    }
    if (adapts) set_grain(grain, end - start, last - first);
    self.in_hand = nullptr;
    if (last_one) step(*b);
    if (--working_ == 0) rest_.notify_all();       // cancel() waits for this
  }
}

bool Executor::work(Thread& self, Batch& b, Phase phase, int first, int last, int64_t now) {
  const Segment& s = segment(b);
  if (phase == Phase::prepare) return prepare(b);
  if (phase == Phase::run) self.worker->run(b, s, first, last, now);
  else self.worker->setup(b, s, first, last, now);
  return true;
}

// With the lock held. By halves and doubles: one look at a noisy clock must not change much.
void Executor::set_grain(int& grain, int64_t took_ns, int samples) {
  if (took_ns > kLongNs) grain = std::max(1, std::min(grain, samples) / 2);
  else if (took_ns < kShortNs && samples == grain) grain = std::min(2 * grain, Worker::kMostSamples);
}

// Memory comes back when older batches are taken and consumers let go of them; unless the consumer waits for this one.
bool Executor::put_off(Batch& b) {
  std::lock_guard lock(mutex_);
  if (stop_ || b.cancelled) return false;
  const int64_t now = now_ns();
  if (!awaited_ || batches_.front().get() != &b) b.stuck_ns = 0;
  else if (!b.stuck_ns) b.stuck_ns = now;
  else if (now - b.stuck_ns > kPatienceNs) return false;
  b.retry_ns = now + std::chrono::nanoseconds(kRetry).count();
  b.next = 0;
  put_off_++;
  return true;
}

}  // namespace ps
