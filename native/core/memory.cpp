#include "core/memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "core/error.h"
#include "core/rows.h"

namespace ps {
namespace {

// From here on a block that is larger than it need be costs more than one that is made anew.
constexpr size_t kLarge = size_t(16) << 20;

struct HostAllocator : Allocator {
  void* allocate(size_t bytes) override {
    constexpr size_t huge = size_t(2) << 20;
    void* data = nullptr;
    if (posix_memalign(&data, bytes >= huge ? huge : 4096, bytes)) return nullptr;
    // Fewer page faults and TLB misses where a batch's tensors are written.
    if (bytes >= huge) madvise(data, bytes / huge * huge, MADV_HUGEPAGE);
    return data;
  }
  void free(void* data, size_t) override { std::free(data); }
};

void wait_for(const std::vector<FenceRef>& fences) {
  for (const FenceRef& f : fences) {
    try {
      f->wait();
    } catch (const Error&) {
      // Only a device that has failed cannot be waited for, and it does no work any more.
    }
  }
}

}  // namespace

Buffer::Buffer(std::shared_ptr<Pool> pool, void* data, size_t capacity)
    : pool_(std::move(pool)), data_(data), capacity_(capacity) {}

Buffer::~Buffer() { pool_->give_back(data_, capacity_, std::move(fences_)); }

void Buffer::add_fence(FenceRef fence) {
  std::lock_guard lock(mutex_);
  fences_.push_back(std::move(fence));
}

Pool::Pool() : allocator_(std::make_unique<HostAllocator>()), trims_(true) {}
Pool::Pool(std::unique_ptr<Allocator> allocator, Budget budget)
    : allocator_(std::move(allocator)), budget_(std::move(budget)) {}

Pool::~Pool() { release_unused(); }

bool Pool::Unused::ready(const void* stream) const {
  return std::all_of(fences.begin(), fences.end(),
                     [&](const FenceRef& f) { return (stream && f->before(stream)) || f->passed(); });
}

// With the lock held: a block that lies here, or none.
BufferRef Pool::reuse(size_t capacity, const void* stream) {
  for (auto it = unused_.lower_bound(capacity); it != unused_.end() && it->first <= capacity + capacity / 2; ++it) {
    if (!it->second.ready(stream)) continue;
    void* data = it->second.data;
    const size_t size = it->first;
    // Work of the same stream that is not done yet: the fences stay, for the next user of the block.
    std::vector<FenceRef> fences = std::move(it->second.fences);
    unused_.erase(it);
    unused_bytes_ -= size;
    note_use();
    auto buffer = std::make_shared<Buffer>(shared_from_this(), data, size);
    for (FenceRef& f : fences)
      if (!f->passed()) buffer->add_fence(std::move(f));
    return buffer;
  }
  return nullptr;
}

// Few sizes, at most a quarter apart, so that batches which differ a little use the same blocks again; large ones at
// most a sixteenth, where outgrow() keeps their number down.
size_t Pool::size_class(size_t bytes) const {
  const size_t steps = !trims_ && bytes >= kLarge ? 32 : 8;
  size_t step = 4096;
  while (step * steps < bytes) step *= 2;
  return (bytes + step - 1) / step * step;
}

// With the lock held: frees the largest block that lies here and is somewhat too small, for one of this capacity to
// take its place. Batches that are larger than those before would otherwise leave these ones' blocks behind. It does
// not go on for ever, as blocks only grow by it. False: there is none. The lock is released meanwhile.
bool Pool::outgrow(size_t capacity, Lock& lock) {
  if (trims_ || capacity < kLarge) return false;
  for (auto it = unused_.lower_bound(capacity); it != unused_.begin();) {
    --it;
    if (it->first + it->first / 2 < capacity) return false;
    if (!it->second.ready(nullptr)) continue;
    free_unused(it, lock);
    return true;
  }
  return false;
}

BufferRef Pool::take(size_t bytes, const void* stream) {
  const size_t capacity = size_class(bytes + kRowSlack);
  Lock lock(mutex_);
  while (true) {
    if (BufferRef b = reuse(capacity, stream)) return b;
    void* data = reserve_.take(capacity);
    if (!data && outgrow(capacity, lock)) data = reserve_.take(capacity);
    if (!data) data = from_system(capacity, lock);
    if (data) {
      note_use();
      return std::make_shared<Buffer>(shared_from_this(), data, capacity);
    }
    if (!make_room(lock)) refuse(capacity);
  }
}

// Null: refused, or over the budget. The lock is released while the system is asked.
void* Pool::from_system(size_t capacity, Lock& lock) {
  if (budget_.bytes && held_ + capacity > budget_.bytes) return nullptr;
  held_ += capacity;
  most_now_ = std::max(most_now_, held_ - unused_bytes_);
  lock.unlock();
  void* data = allocator_->allocate(capacity);
  lock.lock();
  if (data) peak_ = std::max(peak_, held_);
  else held_ -= capacity;
  return data;
}

// Frees the block that was unused longest; if the GPU still works on all of them, waits for that one's work. False:
// there is no unused block. The lock is released meanwhile.
bool Pool::make_room(Lock& lock) {
  const auto older = [](auto& a, auto& b) { return a.second.since < b.second.since; };
  auto chosen = unused_.end();
  for (auto it = unused_.begin(); it != unused_.end(); ++it)
    if (it->second.ready(nullptr) && (chosen == unused_.end() || older(*it, *chosen))) chosen = it;
  if (chosen != unused_.end()) {
    free_unused(chosen, lock);
    return true;
  }
  chosen = std::min_element(unused_.begin(), unused_.end(), older);
  if (chosen == unused_.end()) return false;
  const std::vector<FenceRef> fences = chosen->second.fences;   // it stays: perhaps it can be used again as it is
  lock.unlock();
  wait_for(fences);
  lock.lock();
  return true;
}

// A block on which the GPU does not work. The lock is released meanwhile.
void Pool::free_unused(std::multimap<size_t, Unused>::iterator at, Lock& lock) {
  const auto [capacity, block] = std::move(*at);
  unused_.erase(at);
  unused_bytes_ -= capacity;
  free(block.data, capacity, lock);
}

void Pool::free(void* data, size_t capacity, Lock& lock) {
  if (reserve_.give(data)) return;
  held_ -= capacity;
  lock.unlock();
  allocator_->free(data, capacity);
  lock.lock();
}

void Pool::refuse(size_t capacity) const {
  const std::string in_use = std::to_string(held_ - unused_bytes_) + " bytes are in use";
  const std::string more = std::to_string(capacity);
  if (budget_.bytes && held_ + capacity > budget_.bytes)
    fail(ErrorKind::memory, budget_.variable + "=" + std::to_string(budget_.bytes) + " does not suffice: " + in_use +
                                " of the " + budget_.memory + ", and " + more + " more are needed");
  fail(ErrorKind::memory, "the system refused " + more + " bytes of " + budget_.memory + "; " + in_use);
}

void Pool::preallocate(size_t bytes) {
  if (!bytes) return;
  const size_t capacity = size_class(bytes);
  Lock lock(mutex_);
  while (true) {
    if (void* data = from_system(capacity, lock)) return reserve_.add(data, capacity);
    if (!make_room(lock)) refuse(capacity);
  }
}

size_t Pool::held() {
  std::lock_guard lock(mutex_);
  return held_;
}

size_t Pool::peak() {
  std::lock_guard lock(mutex_);
  return peak_;
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

void Pool::give_back(void* data, size_t capacity, std::vector<FenceRef> fences) {
  std::vector<std::pair<void*, size_t>> surplus;
  {
    std::lock_guard lock(mutex_);
    unused_.emplace(capacity, Unused{data, takes_, std::move(fences)});
    unused_bytes_ += capacity;
    if (trims_) trim(surplus);
  }
  for (auto [p, size] : surplus) allocator_->free(p, size);
}

// With the lock held. Sizes that no batch asks for any more must not pile up. As much as was in use at a time lately is
// kept, and a quarter more; beyond that, the blocks that were unused longest are freed.
void Pool::trim(std::vector<std::pair<void*, size_t>>& surplus) {
  const size_t allowed = std::max(most_now_, most_before_) / 4 * 5;
  while (held_ > allowed && !unused_.empty()) {
    auto oldest = std::min_element(unused_.begin(), unused_.end(),
                                   [](auto& a, auto& b) { return a.second.since < b.second.since; });
    surplus.emplace_back(oldest->second.data, oldest->first);
    unused_bytes_ -= oldest->first;
    held_ -= oldest->first;
    unused_.erase(oldest);
  }
}

void Pool::release_unused() {
  Lock lock(mutex_);
  const std::multimap<size_t, Unused> all = std::exchange(unused_, {});
  unused_bytes_ = 0;
  for (const auto& [capacity, block] : all) {
    lock.unlock();
    wait_for(block.fences);
    lock.lock();
    free(block.data, capacity, lock);
  }
  held_ -= reserve_.release(*allocator_);
}

void* Arena::take(size_t bytes) {
  bytes = (bytes + kRowSlack + 63) / 64 * 64;
  if (blocks_.empty() || used_ + bytes > blocks_.back()->capacity()) {
    add_block(bytes);
    used_ = 0;
  }
  void* p = blocks_.back()->data() + used_;
  used_ += bytes;
  taken_ += bytes;
  return p;
}

void Arena::add_block(size_t bytes) {
  constexpr size_t usual = size_t(1) << 20;
  bytes = std::max(bytes, usual);
  if (blocks_.empty() && expected_ > bytes) {
    try {
      blocks_.push_back(pool_->take(expected_));
      return;
    } catch (const Error& e) {
      if (e.kind != ErrorKind::memory) throw;      // smaller ones may do
    }
  }
  blocks_.push_back(pool_->take(bytes));
}

void Arena::clear() {
  if (blocks_.size() > 1) {
    auto largest = std::max_element(blocks_.begin(), blocks_.end(),
                                    [](auto& a, auto& b) { return a->capacity() < b->capacity(); });
    BufferRef keep = *largest;
    blocks_.clear();
    blocks_.push_back(keep);
  }
  used_ = taken_ = 0;
}

}  // namespace ps
