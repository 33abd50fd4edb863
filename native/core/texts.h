// Texts that live as long as the batch that they are about, such as names of what its samples come from.
#pragma once

#include <deque>
#include <mutex>
#include <string>
#include <utility>

namespace ps {

class Texts {
 public:
  // From any thread.
  const char* keep(std::string text) {
    std::lock_guard lock(mutex_);
    return texts_.emplace_back(std::move(text)).c_str();
  }

 private:
  std::mutex mutex_;
  std::deque<std::string> texts_;
};

}  // namespace ps
