#include "cuda/memory/library_memory.h"

#include "cuda/memory/device_buffer.h"

namespace ps::gpu {

// The libraries are C inside: no exception may pass through them.
int LibraryMemory::take(void* kind, void** data, size_t bytes, CUstream stream) noexcept {
  auto& k = *static_cast<Kind*>(kind);
  try {
    // What lies pinned is written by the host at once, and not in the stream's order.
    BufferRef block = k.is_pinned ? k.device->pinned()->take(bytes) : k.device->memory()->take(bytes, stream);
    *data = block->data();
    std::lock_guard lock(k.mutex);
    k.blocks.emplace(*data, std::move(block));
    return 0;
  } catch (...) {
    *data = nullptr;
    return kOutOfMemory;
  }
}

int LibraryMemory::give(void* kind, void* data, size_t, CUstream stream) noexcept {
  if (!data) return 0;
  auto& k = *static_cast<Kind*>(kind);
  BufferRef block;
  {
    std::lock_guard lock(k.mutex);
    const auto found = k.blocks.find(data);
    if (found == k.blocks.end()) return 1;
    block = std::move(found->second);
    k.blocks.erase(found);
  }
  try {
    if (!stream) {                                 // it may mean any
      keep_until_idle(k.device, {std::move(block)});
      return 0;
    }
    const Current current(*k.device);
    block->add_fence(std::make_shared<Event>(k.device, stream));
  } catch (...) {
    // Only a device that has failed cannot record an event, and it does no work that could still use the block.
  }
  return 0;
}

}  // namespace ps::gpu
