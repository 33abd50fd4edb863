// Threads that wait for a file which does not answer. Nothing ends such a read, so they are detached, with all
// that they may still write to when it returns.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "run/worker_pool.h"

namespace ps {

// With the scheduler's lock held.
class ReadTimeout {
 public:
  ReadTimeout(Scheduler& scheduler, const WorkerPool& workers, double seconds);
  // Fails the oldest batch if a file that it needs has not answered for too long. False: it goes on, or a thread is
  // about to be done with it.
  bool expire();
  // Until no thread works on any of these batches, but for those that are left behind. `last`: such may come back now.
  void wait_until_idle(Scheduler::Lock& lock, const Scheduler::Batches& batches, bool last);
  std::vector<std::string> detach();   // the threads that are left behind: the files that they wait for

 private:
  bool abandon(WorkerPool::Thread& t, const std::shared_ptr<Batch>& b);
  const WorkerPool::Thread* overdue(const Batch& b) const;

  Scheduler& scheduler_;
  const WorkerPool& workers_;
  const int64_t limit_ns_;             // how long one call may wait for a file; 0: for ever
};

}  // namespace ps
