// Constants of an operator that stay on its GPU for as long as it lives: tables.
#pragma once

#include <mutex>
#include <vector>

#include "cuda/driver/device.h"

namespace ps::gpu {

class Resident {
 public:
  // Where these bytes are on that GPU. They are copied with the first call, and must be the same ones in all of them.
  const void* address(int device_id, const std::vector<uint8_t>& bytes) const {
    std::lock_guard lock(mutex_);
    if (memory_) return memory_->data();
    Device* device = Device::get(device_id);
    BufferRef memory = device->memory()->take(bytes.size());
    const Current current(*device);
    const Stream stream(device, 0);
    const auto to = reinterpret_cast<CUdeviceptr>(memory->data());
    check(driver().cuMemcpyHtoDAsync_v2(to, bytes.data(), bytes.size(), stream), "cuMemcpyHtoDAsync");
    check(driver().cuStreamSynchronize(stream), "cuStreamSynchronize");
    memory_ = memory;
    return memory_->data();
  }

 private:
  mutable std::mutex mutex_;
  mutable BufferRef memory_;
};

}  // namespace ps::gpu
