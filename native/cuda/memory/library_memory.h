// Memory for NVIDIA's decoders from our own pools, so that one budget counts for all. nvJPEG and nvImageCodec call
// back with the same functions: a context, a size, and the stream whose work will use the block.
#pragma once

#include <mutex>
#include <unordered_map>

#include "cuda/driver/device.h"

namespace ps::gpu {

class LibraryMemory {
 public:
  // 0: success; anything else: out of memory.
  using Take = int (*)(void* context, void** data, size_t bytes, CUstream stream);
  using Give = int (*)(void* context, void* data, size_t bytes, CUstream stream);

  explicit LibraryMemory(DeviceRef device) : of_device{device, false}, pinned{device, true} {}

  // The contexts: a library's handle must not outlive this object.
  struct Kind {
    DeviceRef device;
    bool is_pinned;
    std::mutex mutex{};
    std::unordered_map<void*, BufferRef> blocks{};
  };
  Kind of_device, pinned;

  static int take(void* kind, void** data, size_t bytes, CUstream stream) noexcept;
  static int give(void* kind, void* data, size_t bytes, CUstream stream) noexcept;
};

}  // namespace ps::gpu
