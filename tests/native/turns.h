// The threads of a block of a GPU, taking turns on one of the host's.
#pragma once

#include <ucontext.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <random>
#include <vector>

// Each thread runs until it waits for all of its block, or ends; then all that wait go on, in another order each time:
// what needs a wait that is missing goes wrong in some order. Threads of the host would do little but wait for each
// other.
class Turns {
 public:
  // Runs `work(number)` as so many threads; `before(number)` is called whenever another one is about to run.
  void all(int count, const std::function<void(int)>& before, const std::function<void()>& work) {
    if (count == 1) {
      running_ = nullptr;
      before(0);
      work();
      return;
    }
    work_ = &work;
    while (threads_.size() < size_t(count)) threads_.push_back(std::make_unique<Thread>());
    std::vector<int> order;
    for (int i = 0; i < count; i++) {
      Thread& t = *threads_[size_t(i)];
      getcontext(&t.context);
      t.context.uc_stack.ss_sp = t.stack.get(), t.context.uc_stack.ss_size = kStack, t.context.uc_link = &scheduler_;
      makecontext(&t.context, [] { (*current_->work_)(); current_->running_->ended = true; }, 0);
      t.ended = false;
      order.push_back(i);
    }
    for (int ended = 0; !ended;) {
      std::shuffle(order.begin(), order.end(), random_);
      current_ = this;
      for (int i : order) {
        running_ = threads_[size_t(i)].get();
        before(i);
        swapcontext(&scheduler_, &running_->context);
        ended += running_->ended;
      }
      if (ended && ended != count) std::puts("FAILED: a thread waits for others that have ended"), std::abort();
    }
  }

  // For the thread that runs: until all others of its block wait too.
  static void wait() {
    if (current_ && current_->running_) swapcontext(&current_->running_->context, &current_->scheduler_);
  }

 private:
  static constexpr size_t kStack = 1 << 20;
  struct Thread {
    ucontext_t context;
    std::unique_ptr<char[]> stack{new char[kStack]};
    bool ended;
  };

  static inline Turns* current_ = nullptr;
  const std::function<void()>* work_ = nullptr;
  std::vector<std::unique_ptr<Thread>> threads_;
  Thread* running_ = nullptr;
  ucontext_t scheduler_;
  std::minstd_rand random_;
};
