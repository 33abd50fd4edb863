// Parts of one container that follow each other closely, and each need what lies before them: who would have to go
// through what another one is at anyway waits for that one, and goes on from there.
#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <list>
#include <mutex>

namespace ps {

class InTurn {
  struct Part {
    int64_t container, end;
  };

 public:
  // Its lifetime spans the work on a part. It waits for those whose parts end behind `since`, but not behind `begin`.
  class Turn {
   public:
    Turn(InTurn& all, int64_t container, int64_t begin, int64_t end, int64_t since) : all_(all) {
      std::unique_lock lock(all_.mutex_);
      own_ = all_.parts_.insert(all_.parts_.end(), {container, end});
      // An end lies before the begin of who waits for it, so nobody waits in a circle; nor for a file that never comes.
      all_.done_.wait_for(lock, kMost, [&] {
        return std::none_of(all_.parts_.begin(), all_.parts_.end(), [&](const Part& p) {
          return p.container == container && p.end > since && p.end <= begin;
        });
      });
    }
    ~Turn() {
      {
        std::lock_guard lock(all_.mutex_);
        all_.parts_.erase(own_);
      }
      all_.done_.notify_all();
    }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

   private:
    InTurn& all_;
    std::list<Part>::iterator own_;
  };

 private:
  static constexpr std::chrono::seconds kMost{10};
  std::mutex mutex_;
  std::condition_variable done_;
  std::list<Part> parts_;                          // that are worked on, or waited for
};

}  // namespace ps
