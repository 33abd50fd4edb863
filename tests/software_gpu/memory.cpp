#include "memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "failure.h"

namespace software_gpu {
namespace {

constexpr size_t kPattern = 2 << 20;                // bytes

size_t round_up(size_t bytes, size_t step) { return (bytes + step - 1) / step * step; }

// A file in memory that is full of kFresh. Who maps it has memory that costs nothing until it is touched.
int fresh_bytes() {
  static const int file = [] {
    const int made = memfd_create("fresh", MFD_CLOEXEC);
    void* all = made < 0 || ftruncate(made, kPattern) ? MAP_FAILED
                                                      : mmap(nullptr, kPattern, PROT_WRITE, MAP_SHARED, made, 0);
    if (all == MAP_FAILED) return -1;
    std::memset(all, kFresh, kPattern);
    munmap(all, kPattern);
    return made;
  }();
  require(file >= 0, kOutOfMemory);
  return file;
}

}  // namespace

GuardedBytes::GuardedBytes(size_t bytes) : size_(bytes) {
  const size_t page = size_t(sysconf(_SC_PAGESIZE)), inner = round_up(bytes, page);
  require(inner >= bytes && inner <= SIZE_MAX - 2 * page, kOutOfMemory);
  mapped_ = inner + 2 * page;
  void* pages = mmap(nullptr, mapped_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  require(pages != MAP_FAILED, kOutOfMemory);
  pages_ = static_cast<unsigned char*>(pages);
  for (size_t at = 0; at < inner; at += kPattern) {
    const size_t part = inner - at < kPattern ? inner - at : kPattern;
    if (mmap(pages_ + page + at, part, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED | MAP_NORESERVE, fresh_bytes(),
             0) == MAP_FAILED) {
      munmap(pages_, mapped_);
      throw Failure{kOutOfMemory};
    }
  }
  data_ = pages_ + page + inner - round_up(bytes, 16);
}

GuardedBytes::~GuardedBytes() { munmap(pages_, mapped_); }

Memory& Memory::get() {
  static Memory* memory = new Memory;              // outlives the threads of the streams
  return *memory;
}

Memory::Memory() {
  const char* text = std::getenv("SOFTWARE_GPU_MEMORY");
  limit_ = text ? std::strtoull(text, nullptr, 10) : size_t(16) << 30;
}

void* Memory::allocate(int device, size_t bytes) {
  require(bytes > 0);
  std::lock_guard lock(mutex_);
  if (device != kPinned) {
    const size_t used = used_with_lock(device);
    require(used <= limit_ && bytes <= limit_ - used, kOutOfMemory);
  }
  auto block = std::make_unique<GuardedBytes>(bytes);
  void* data = block->data();
  blocks_.emplace(uintptr_t(data), Block{device, std::move(block)});
  return data;
}

void Memory::free(bool pinned, const void* data) {
  std::lock_guard lock(mutex_);
  const auto it = blocks_.find(uintptr_t(data));
  require(it != blocks_.end() && (it->second.device == kPinned) == pinned);
  blocks_.erase(it);
}

const Memory::Block* Memory::find(uintptr_t address) {
  const auto it = blocks_.upper_bound(address);
  return it == blocks_.begin() ? nullptr : &std::prev(it)->second;
}

std::optional<int> Memory::device_of(const void* p) {
  std::lock_guard lock(mutex_);
  const Block* b = find(uintptr_t(p));
  if (!b || uintptr_t(p) - uintptr_t(b->bytes->data()) >= b->bytes->size()) return {};
  return b->device;
}

bool Memory::in_device(const void* p, size_t bytes) {
  std::lock_guard lock(mutex_);
  const Block* b = find(uintptr_t(p));
  if (!b || b->device == kPinned) return false;
  const size_t offset = uintptr_t(p) - uintptr_t(b->bytes->data()), size = b->bytes->size();
  return offset < size && bytes <= size - offset;
}

bool Memory::in_host(const void* p, size_t bytes) {
  std::lock_guard lock(mutex_);
  const uintptr_t begin = uintptr_t(p), end = begin + bytes;
  // Blocks lie apart, so it is enough to look at those from the last one that begins before the range.
  auto it = blocks_.upper_bound(begin);
  if (it != blocks_.begin()) --it;
  for (; it != blocks_.end() && it->first < end; ++it)
    if (it->second.device != kPinned && it->first + it->second.bytes->size() > begin) return false;
  return true;
}

size_t Memory::used(int device) {
  std::lock_guard lock(mutex_);
  return used_with_lock(device);
}

size_t Memory::used_with_lock(int device) const {
  size_t used = 0;
  for (const auto& [address, block] : blocks_)
    if (block.device == device) used += block.bytes->size();
  return used;
}

}  // namespace software_gpu
