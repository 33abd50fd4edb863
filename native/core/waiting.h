// What a thread waits for outside the process. A read may never return, so other threads must be able to see that.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace ps {

// Written by its thread, read by any.
struct Waiting {
  std::atomic<const char*> file{nullptr};        // null: it does not wait; the name lives as long as the thread
  std::atomic<int64_t> since_ns{0};              // of std::chrono::steady_clock
  std::atomic<int> node{-1}, sample{-1};         // what it works on
  const std::atomic<bool>* cancelled = nullptr;  // its own: whether nobody wants that any more; null: there is no such
};

// This thread's.
inline Waiting& waiting() {
  thread_local Waiting one;
  return one;
}

// Its lifetime spans a call that may block.
class Wait {
 public:
  explicit Wait(const char* file) {
    waiting().since_ns = std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
    waiting().file = file;
  }
  ~Wait() { waiting().file = nullptr; }
  Wait(const Wait&) = delete;
  Wait& operator=(const Wait&) = delete;
};

}  // namespace ps
