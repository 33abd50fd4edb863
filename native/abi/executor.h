// An executor across the C ABI.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "penstock.h"
#include "run/executor.h"

// Closing may come from any thread, under calls of others: these are woken, and waited for.
struct ps_executor {
  explicit ps_executor(std::shared_ptr<ps::Executor> made) : executor_(std::move(made)) {}

  class Use {                                      // by one call
   public:
    explicit Use(ps_executor& e) : e_(e) {
      std::lock_guard lock(e.mutex_);
      executor_ = e.executor_.get();
      e.calls_ += executor_ != nullptr;
    }
    ~Use() {
      if (!executor_) return;
      std::lock_guard lock(e_.mutex_);
      if (--e_.calls_ == 0) e_.unused_.notify_all();
    }
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;
    explicit operator bool() const { return executor_; }     // false: it is closed
    ps::Executor* operator->() const {
      if (!executor_) ps::fail(ps::ErrorKind::stopped, "the pipeline is closed");
      return executor_;
    }

   private:
    ps_executor& e_;
    ps::Executor* executor_;
  };
  Use use() { return Use(*this); }

  std::vector<std::string> close() {               // see Executor::close()
    std::unique_lock lock(mutex_);
    const auto executor = std::exchange(executor_, nullptr);
    if (!executor) return {};
    executor->stop();
    unused_.wait(lock, [&] { return calls_ == 0; });
    lock.unlock();
    return executor->close();
  }

  std::vector<std::pair<int, ps::FedRef>> fed;     // for the iteration to come
  std::vector<std::string> sources;

 private:
  std::mutex mutex_;
  std::condition_variable unused_;
  std::shared_ptr<ps::Executor> executor_;
  int calls_ = 0;
};
