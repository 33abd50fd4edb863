// Bytes of a file, wherever they are.
#pragma once

#include <cstring>

#include "read/storage.h"

namespace ps {

// A file, or bytes in memory.
class Bytes {
 public:
  explicit Bytes(StoredFile& file) : file_(&file), size_(file.bytes()) {}
  Bytes(const uint8_t* memory, int64_t size) : memory_(memory), size_(size) {}
  int64_t size() const { return size_; }
  const uint8_t* memory() const { return memory_; }      // null: it is a file
  // All of them must be there.
  void read(int64_t at, void* to, size_t bytes) const {
    if (!bytes) return;
    if (memory_) std::memcpy(to, memory_ + at, bytes);
    else file_->read_all(at, to, int64_t(bytes));
  }

 private:
  StoredFile* file_ = nullptr;
  const uint8_t* memory_ = nullptr;
  int64_t size_;
};

}  // namespace ps
