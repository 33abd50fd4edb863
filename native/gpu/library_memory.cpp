#include "gpu/library_memory.h"

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
  // No stream may mean any: then whatever the context has under way must end first.
  try {
    Current current(*k.device);
    block->add_fence(stream ? std::make_shared<Event>(k.device, stream) : std::make_shared<Event>(k.device));
  } catch (...) {
    // Only a device that has failed cannot record an event, and it does no work that could still use the block.
  }
  return 0;
}

}  // namespace ps::gpu
