// What the threads of an executor do, and when, for profiles. Threads write without locks; while nothing is recorded,
// an event costs a test of one flag.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "penstock.h"
#include "run/stats.h"

namespace ps {

enum class Did : int32_t {
  setup = PS_DID_SETUP,                 // found the shapes of samples, of which `sample` is the first, in segment `at`
  run = PS_DID_RUN,                     // ran the group whose first node is `at`, or that node alone, on a sample;
                                        // -1: in Python, on all
  prepare = PS_DID_PREPARE,             // gave out memory for segment `at`, on a GPU also listed its work
  launch_ahead = PS_DID_LAUNCH_AHEAD,   // gave the GPU what waits for nothing
  launch = PS_DID_LAUNCH,               // gave the GPU the rest
  device = PS_DID_DEVICE,               // the GPU's time for a batch, from its launch, or the end of the batch before
  wait = PS_DID_WAIT,                   // a consumer waited; `sample` is 1 when it then got the batch
  phase = PS_DID_PHASE,                 // a moment: the batch entered segment `at`; `sample` is its Phase
  finished = PS_DID_FINISHED,           // a moment
};

struct Span {         // ps_span of penstock.h
  int64_t start_ns, end_ns, batch;
  int32_t thread;     // workers in their order, and behind them those of Trace
  Did did;
  int32_t at, sample;
};

class Trace {
 public:
  // The writers behind the worker threads. The engine's lock makes `engine` and `python` one writer each; a stream's
  // calls make `device`.
  enum Other {
    launcher = PS_WRITER_LAUNCHER, ahead = PS_WRITER_AHEAD, device = PS_WRITER_DEVICE, engine = PS_WRITER_ENGINE,
    python = PS_WRITER_PYTHON, others,
  };
  explicit Trace(int workers) : workers_(workers), rings_(size_t(workers + others)) {}

  bool on() const { return on_.load(std::memory_order_acquire); }
  void start();
  void stop() { on_.store(false, std::memory_order_release); }

  // For the one thread of this number. What does not fit any more is counted as lost.
  void add(int thread, Did did, int at, int64_t batch, int sample, int64_t start_ns, int64_t end_ns);
  void add(Other thread, Did did, int at, int64_t batch, int sample, int64_t start_ns, int64_t end_ns) {
    add(workers_ + int(thread), did, at, batch, sample, start_ns, end_ns);
  }
  // For the one thread on which the driver tells of a stream's progress. The GPU did nothing of it before the end of
  // the last batch.
  void add_device(int segment, int64_t batch, int64_t start_ns, int64_t end_ns);
  // Hands out the oldest spans of each thread, at most so many; for one reader.
  int read(Span* to, int most);
  int64_t lost() const { return lost_.load(std::memory_order_relaxed); }

 private:
  static constexpr uint64_t kSpans = 1 << 14;        // of one thread, until they are read
  struct Ring {
    std::atomic<uint64_t> written{0}, read{0};
    std::unique_ptr<std::array<Span, kSpans>> spans; // made when recording first begins
  };
  const int workers_;
  std::vector<Ring> rings_;
  std::atomic<bool> on_{false};
  std::atomic<int64_t> lost_{0};
  int64_t device_end_ns_ = 0;
};

// What a worker does in one C++ scope.
class Recorded {
 public:
  Recorded(Trace& trace, int thread, Did did, int at, int64_t batch, int sample)
      : trace_(trace.on() ? &trace : nullptr), thread_(thread), did_(did), at_(at), sample_(sample), batch_(batch),
        start_ns_(trace_ ? now_ns() : 0) {}
  ~Recorded() {
    if (trace_) trace_->add(thread_, did_, at_, batch_, sample_, start_ns_, now_ns());
  }
  Recorded(const Recorded&) = delete;
  Recorded& operator=(const Recorded&) = delete;

 private:
  Trace* trace_;
  int thread_;
  Did did_;
  int at_, sample_;
  int64_t batch_, start_ns_;
};

}  // namespace ps
