// The memory of the software GPUs, and their pinned memory: addresses of the host, so kernels use them as they are.
// What a GPU would not forgive is found by guard pages around each block, by the bytes that fresh memory is filled
// with, and by a list of all blocks that copies are checked against.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>

namespace software_gpu {

inline constexpr unsigned char kFresh = 0xa5;      // memory that was not written yet
inline constexpr int kPinned = -1;                 // in place of a device's number

// Bytes at the end of whole pages, aligned to 16: the page behind them, and the one before, may not be touched.
class GuardedBytes {
 public:
  explicit GuardedBytes(size_t bytes);             // throws Failure{kOutOfMemory}
  ~GuardedBytes();
  GuardedBytes(const GuardedBytes&) = delete;
  GuardedBytes& operator=(const GuardedBytes&) = delete;
  unsigned char* data() const { return data_; }
  size_t size() const { return size_; }

 private:
  size_t size_, mapped_;
  unsigned char *pages_, *data_;
};

class Memory {
 public:
  static Memory& get();
  void* allocate(int device, size_t bytes);        // throws Failure
  void free(bool pinned, const void* data);
  std::optional<int> device_of(const void* p);     // kPinned too; none where no block is
  bool in_device(const void* p, size_t bytes);     // all of it, in one block
  bool in_host(const void* p, size_t bytes);       // not a byte of it in a device's memory
  void set_limit(size_t bytes) { limit_ = bytes; }
  size_t limit() const { return limit_; }          // of each device
  size_t used(int device);

 private:
  struct Block {
    int device;
    std::unique_ptr<GuardedBytes> bytes;
  };
  Memory();
  const Block* find(uintptr_t address);            // the last block that begins at the address or before it
  size_t used_with_lock(int device) const;
  std::mutex mutex_;
  std::map<uintptr_t, Block> blocks_;
  size_t limit_;
};

}  // namespace software_gpu
