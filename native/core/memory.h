// Memory that is used again. Host pages once touched stay with the pool, since faulting them in costs more than the
// work on them; memory of a GPU and pinned memory are slow to get, and slower to give back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/reserve.h"

namespace ps {

class Pool;

// Work that still uses a block whose owners are all gone: of a GPU, which runs behind the host.
struct Fence {
  virtual ~Fence() = default;
  virtual bool passed() const = 0;
  virtual void wait() const = 0;
  // Whether that work comes before whatever is put into this stream from now on.
  virtual bool before(const void* stream) const = 0;
};
using FenceRef = std::shared_ptr<const Fence>;

// How much a pool may take from the system, and how errors call that.
struct Budget {
  size_t bytes = 0;                           // 0: as much as there is
  std::string variable = "", memory = "memory";   // "PENSTOCK_DEVICE_MEMORY", "memory of GPU 0"
};

// A block of a pool, given back when its last owner is destroyed.
class Buffer {
 public:
  Buffer(std::shared_ptr<Pool> pool, void* data, size_t capacity);
  ~Buffer();
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  uint8_t* data() const { return static_cast<uint8_t*>(data_); }
  size_t capacity() const { return capacity_; }
  // When the block is given back, it is used again only after this. From any thread.
  void add_fence(FenceRef fence);

 private:
  std::shared_ptr<Pool> pool_;
  void* data_;
  size_t capacity_;
  std::mutex mutex_;
  std::vector<FenceRef> fences_;
};
using BufferRef = std::shared_ptr<Buffer>;

class Pool : public std::enable_shared_from_this<Pool> {
 public:
  // Host memory, of which what was not needed lately is given back by itself.
  Pool();
  // Memory of another kind, kept until release_unused(), or until it is refused or the budget is reached.
  Pool(std::unique_ptr<Allocator> allocator, Budget budget);
  ~Pool();
  // At least `bytes`, aligned to 64, with kRowSlack readable bytes behind. For work in `stream`, or for the host.
  // Where there is no room, unused blocks are freed, after waiting for the GPU's work on them. Throws Error(memory) if
  // that is not enough: other owners must free some.
  BufferRef take(size_t bytes, const void* stream = nullptr);
  void preallocate(size_t bytes);         // so that so much more can be taken without the system; throws Error(memory)
  void release_unused();                  // waits for work that still uses it
  size_t budget() const { return budget_.bytes; }   // 0: none
  size_t held();                          // bytes taken from the system and not given back
  size_t peak();

 private:
  friend class Buffer;
  struct Unused {
    void* data;
    uint64_t since;                    // the count of takes when it came back
    std::vector<FenceRef> fences;
    bool ready(const void* stream) const;
  };
  using Lock = std::unique_lock<std::mutex>;
  void give_back(void* data, size_t capacity, std::vector<FenceRef> fences);
  void note_use();
  void trim(std::vector<std::pair<void*, size_t>>& surplus);
  BufferRef reuse(size_t capacity, const void* stream);
  size_t size_class(size_t bytes) const;
  bool outgrow(size_t capacity, Lock& lock);
  void* from_system(size_t capacity, Lock& lock);
  bool make_room(Lock& lock);
  void free_unused(std::multimap<size_t, Unused>::iterator at, Lock& lock);
  void free(void* data, size_t capacity, Lock& lock);
  [[noreturn]] void refuse(size_t capacity) const;
  std::unique_ptr<Allocator> allocator_;
  bool trims_ = false;
  Budget budget_;
  std::mutex mutex_;
  Reserve reserve_;
  std::multimap<size_t, Unused> unused_;
  size_t unused_bytes_ = 0, held_ = 0, peak_ = 0;
  // The most in use at a time during the current stretch of takes, and during the one before.
  size_t most_now_ = 0, most_before_ = 0;
  uint64_t takes_ = 0;
};

// Memory handed out piece by piece and given back all at once.
class Arena {
 public:
  // `expected`: so much is likely to be taken in all. It comes from one block then, if there is one of that size.
  explicit Arena(std::shared_ptr<Pool> pool, size_t expected = 0) : pool_(std::move(pool)), expected_(expected) {}
  void* take(size_t bytes);
  void clear();                       // keeps the largest block for the next use
  void add_fence(const FenceRef& fence) { for (auto& b : blocks_) b->add_fence(fence); }
  const std::vector<BufferRef>& blocks() const { return blocks_; }
  size_t taken() const { return taken_; }   // bytes since it was empty

 private:
  void add_block(size_t bytes);
  std::shared_ptr<Pool> pool_;
  std::vector<BufferRef> blocks_;
  size_t used_ = 0;                   // of the last block
  size_t expected_, taken_ = 0;
};

}  // namespace ps
