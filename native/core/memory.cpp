#include "core/memory.h"

#include <sys/mman.h>

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

void* allocate(size_t capacity) {
  constexpr size_t huge = size_t(2) << 20;
  void* data = nullptr;
  if (posix_memalign(&data, capacity >= huge ? huge : 4096, capacity)) return nullptr;
  // Fewer page faults and TLB misses where a batch's tensors are written.
  if (capacity >= huge) madvise(data, capacity / huge * huge, MADV_HUGEPAGE);
  return data;
}

}  // namespace

Buffer::Buffer(std::shared_ptr<Pool> pool, void* data, size_t capacity)
    : pool_(std::move(pool)), data_(data), capacity_(capacity) {}

Buffer::~Buffer() { pool_->give_back(data_, capacity_); }

Pool::~Pool() {
  for (auto& [size, block] : unused_) std::free(block.data);
}

BufferRef Pool::take(size_t bytes) {
  const size_t capacity = size_class(bytes + kRowSlack);
  {
    std::lock_guard lock(mutex_);
    auto it = unused_.lower_bound(capacity);
    if (it != unused_.end() && it->first <= capacity + capacity / 2) {
      void* data = it->second.data;
      const size_t size = it->first;
      unused_.erase(it);
      unused_bytes_ -= size;
      note_use();
      return std::make_shared<Buffer>(shared_from_this(), data, size);
    }
  }
  void* data = allocate(capacity);
  if (!data) {
    release_unused();
    data = allocate(capacity);
    if (!data) fail(ErrorKind::memory, "the system refused " + std::to_string(capacity) + " bytes of memory");
  }
  std::lock_guard lock(mutex_);
  held_ += capacity;
  peak_ = std::max(peak_, held_);
  note_use();
  return std::make_shared<Buffer>(shared_from_this(), data, capacity);
}

// With the lock held.
void Pool::note_use() {
  constexpr uint64_t stretch = 512;
  if (++takes_ % stretch == 0) {
    most_before_ = most_now_;
    most_now_ = 0;
  }
  most_now_ = std::max(most_now_, held_ - unused_bytes_);
}

void Pool::give_back(void* data, size_t capacity) {
  std::vector<void*> surplus;
  {
    std::lock_guard lock(mutex_);
    unused_.emplace(capacity, Unused{data, takes_});
    unused_bytes_ += capacity;
    // Sizes that no batch asks for any more must not pile up. What was in use at a time lately will be again; beyond
    // that and a quarter, what lay there longest goes.
    const size_t allowed = std::max(most_now_, most_before_) / 4 * 5;
    while (held_ > allowed && !unused_.empty()) {
      auto oldest = std::min_element(unused_.begin(), unused_.end(),
                                     [](auto& a, auto& b) { return a.second.since < b.second.since; });
      surplus.push_back(oldest->second.data);
      unused_bytes_ -= oldest->first;
      held_ -= oldest->first;
      unused_.erase(oldest);
    }
  }
  for (void* p : surplus) std::free(p);
}

void Pool::release_unused() {
  std::lock_guard lock(mutex_);
  for (auto& [size, block] : unused_) std::free(block.data);
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
