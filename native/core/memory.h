// Host memory that is used again: pages once touched stay with the pool, since faulting them in anew costs more than
// the work on them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace ps {

class Pool;

// A block of a pool, given back when the last owner lets go of it.
class Buffer {
 public:
  Buffer(std::shared_ptr<Pool> pool, void* data, size_t capacity);
  ~Buffer();
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  uint8_t* data() const { return static_cast<uint8_t*>(data_); }
  size_t capacity() const { return capacity_; }

 private:
  std::shared_ptr<Pool> pool_;
  void* data_;
  size_t capacity_;
};
using BufferRef = std::shared_ptr<Buffer>;

class Pool : public std::enable_shared_from_this<Pool> {
 public:
  ~Pool();
  // At least `bytes`, aligned to 64, with kRowSlack readable bytes behind.
  BufferRef take(size_t bytes);
  void release_unused();
  size_t held() const { return held_; }   // bytes taken from the system and not given back
  size_t peak() const { return peak_; }

 private:
  friend class Buffer;
  struct Unused {
    void* data;
    uint64_t since;                    // how many takes there had been when it came back
  };
  void give_back(void* data, size_t capacity);
  void note_use();
  std::mutex mutex_;
  std::multimap<size_t, Unused> unused_;
  size_t unused_bytes_ = 0, held_ = 0, peak_ = 0;
  // The most in use at a time during the current stretch of takes, and during the one before.
  size_t most_now_ = 0, most_before_ = 0;
  uint64_t takes_ = 0;
};

// Memory handed out piece by piece and given back all at once.
class Arena {
 public:
  explicit Arena(std::shared_ptr<Pool> pool) : pool_(std::move(pool)) {}
  void* take(size_t bytes);
  void clear();                       // keeps the largest block for the next use
  void move_blocks(std::vector<BufferRef>& to) { for (auto& b : blocks_) to.push_back(b); }

 private:
  std::shared_ptr<Pool> pool_;
  std::vector<BufferRef> blocks_;
  size_t used_ = 0;                   // of the last block
};

}  // namespace ps
