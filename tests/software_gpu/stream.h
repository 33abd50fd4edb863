// Streams that run behind the host, as a GPU's do: each has a thread that takes its work one by one. So data that is
// used without waiting for it is likely to be seen as it was before, and more so with set_delay.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

namespace software_gpu {

using Clock = std::chrono::steady_clock;

// A point in the work of several streams: passed when all of them have arrived.
class Mark {
 public:
  explicit Mark(int streams);
  void arrive();
  bool passed() const;
  void wait() const;
  Clock::time_point time() const;                  // when it was passed

 private:
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  int left_;
  Clock::time_point time_;
};
using MarkRef = std::shared_ptr<Mark>;

class Context;

class Stream {
 public:
  static std::shared_ptr<Stream> start(Context& context);
  Context& context() const { return context_; }
  void submit(std::function<void()> work);
  bool idle() const;
  void wait() const;                               // for what has been submitted so far
  void close();                                    // its thread ends once all work is done

 private:
  explicit Stream(Context& context) : context_(context) {}
  void work();
  Context& context_;
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  std::deque<std::function<void()>> queue_;
  uint64_t submitted_ = 0, done_ = 0;
  bool closed_ = false, ended_ = false;
};
using StreamRef = std::shared_ptr<Stream>;

// The primary context of a device: where its streams are found.
class Context {
 public:
  explicit Context(int device) : device(device) {}
  const int device;
  std::atomic<int> users = 0;                      // cuDevicePrimaryCtxRetain less Release
  StreamRef add_stream();
  StreamRef default_stream(bool per_thread);
  MarkRef mark_all();                              // passed when what all streams have been given so far is done
  void wait_for_all();

 private:
  std::vector<StreamRef> live_streams();
  std::mutex mutex_;
  std::vector<std::weak_ptr<Stream>> streams_;     // those destroyed live on until their work is done
  std::once_flag defaults_made_;
  StreamRef legacy_, per_thread_;
};

// The work that streams do from now on waits so long before each step.
void set_delay(unsigned microseconds);

}  // namespace software_gpu
