#include "core/memory.h"

#include <algorithm>
#include <cstdlib>

#include "core/error.h"
#include "core/rows.h"

namespace ps {
namespace {

// Few sizes, at most a quarter apart, so that batches which differ a little use the same blocks again.
size_t size_class(size_t bytes) {
  size_t step = 4096;
  while (step * 8 < bytes) step *= 2;
  return (bytes + step - 1) / step * step;
}

}  // namespace

Buffer::Buffer(std::shared_ptr<Pool> pool, void* data, size_t capacity)
    : pool_(std::move(pool)), data_(data), capacity_(capacity) {}

Buffer::~Buffer() { pool_->give_back(data_, capacity_); }

Pool::~Pool() {
  for (auto& [size, data] : unused_) std::free(data);
}

BufferRef Pool::take(size_t bytes) {
  const size_t capacity = size_class(bytes + kRowSlack);
  {
    std::lock_guard lock(mutex_);
    auto it = unused_.lower_bound(capacity);
    if (it != unused_.end() && it->first <= capacity + capacity / 2) {
      void* data = it->second;
      const size_t size = it->first;
      unused_.erase(it);
      unused_bytes_ -= size;
      return std::make_shared<Buffer>(shared_from_this(), data, size);
    }
  }
  void* data = nullptr;
  if (posix_memalign(&data, 4096, capacity)) {
    release_unused();
    if (posix_memalign(&data, 4096, capacity))
      fail(ErrorKind::memory, "the system refused " + std::to_string(capacity) + " bytes of memory");
  }
  std::lock_guard lock(mutex_);
  held_ += capacity;
  peak_ = std::max(peak_, held_);
  return std::make_shared<Buffer>(shared_from_this(), data, capacity);
}

void Pool::give_back(void* data, size_t capacity) {
  std::vector<void*> surplus;
  {
    std::lock_guard lock(mutex_);
    unused_.emplace(capacity, data);
    unused_bytes_ += capacity;
    // Sizes that no batch asks for any more must not pile up: keep no more unused than is in use (and 64 MiB).
    const size_t allowed = std::max<size_t>(held_ - unused_bytes_, size_t(64) << 20);
    while (unused_bytes_ > allowed && unused_.size() > 1) {
      auto it = unused_.begin();
      surplus.push_back(it->second);
      unused_bytes_ -= it->first;
      held_ -= it->first;
      unused_.erase(it);
    }
  }
  for (void* p : surplus) std::free(p);
}

void Pool::release_unused() {
  std::lock_guard lock(mutex_);
  for (auto& [size, data] : unused_) std::free(data);
  unused_.clear();
  held_ -= unused_bytes_;
  unused_bytes_ = 0;
}

void* Arena::take(size_t bytes) {
  bytes = (bytes + kRowSlack + 63) / 64 * 64;
  if (blocks_.empty() || used_ + bytes > blocks_.back()->capacity()) {
    constexpr size_t block = size_t(1) << 20;
    blocks_.push_back(pool_->take(std::max(bytes, block)));
    used_ = 0;
  }
  void* p = blocks_.back()->data() + used_;
  used_ += bytes;
  return p;
}

void Arena::clear() {
  if (blocks_.size() > 1) {
    auto largest = std::max_element(blocks_.begin(), blocks_.end(),
                                    [](auto& a, auto& b) { return a->capacity() < b->capacity(); });
    BufferRef keep = *largest;
    blocks_.clear();
    blocks_.push_back(keep);
  }
  used_ = 0;
}

}  // namespace ps
