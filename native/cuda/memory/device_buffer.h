// Device memory that leaves the engine, or that it borrows: readers must know when its contents are there, and the
// pool when it may be used again.
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "core/memory.h"
#include "core/tensor.h"
#include "cuda/driver/device.h"

namespace ps::gpu {

class DeviceBuffer;
using DeviceBufferRef = std::shared_ptr<DeviceBuffer>;

class DeviceBuffer {
 public:
  // Blocks of the device's pool, or foreign memory, which `owner` keeps alive. The contents are there when `ready` has
  // passed (null: now).
  DeviceBuffer(DeviceRef device, std::vector<BufferRef> buffers, EventRef ready,
               std::shared_ptr<const void> owner = {});
  // Several on one device, as one.
  explicit DeviceBuffer(std::vector<DeviceBufferRef> parts);
  ~DeviceBuffer();
  DeviceBuffer(const DeviceBuffer&) = delete;
  DeviceBuffer& operator=(const DeviceBuffer&) = delete;

  DeviceRef device() const { return device_; }
  bool passed() const;                      // whether the contents are there
  void wait() const;                        // on the host
  void order(CUstream stream) const;        // what is put into the stream from now on finds the contents there
  // A consumer outside borrows the memory: until this object is gone it may use the address on any stream, unseen. The
  // blocks are then used again only after all work that was enqueued on the device by that time, on whatever stream.
  void lend();
  // Work of our own uses the memory until `done`. The caller has to keep foreign memory alive for as long.
  void used(const EventRef& done) const;
  bool foreign() const;                     // whether any of the memory is borrowed from another library

 private:
  DeviceRef device_;
  std::vector<BufferRef> buffers_;
  std::shared_ptr<const void> owner_;
  std::vector<DeviceBufferRef> parts_;
  EventRef ready_;
  std::atomic<bool> lent_{false};
};

// Gives blocks back to their pool that consumers may still use on any stream: they are used again only after all work
// that is enqueued on the device by now. Waits for nothing.
void keep_until_idle(DeviceRef device, std::vector<BufferRef> buffers);

// The stream of copies that consumers ask for; as long as the process lives.
CUstream copy_stream(DeviceRef device);

// Samples, from wherever they are, copied one behind the other.
struct Copied {
  DeviceBufferRef buffer;
  void* data;
};
Copied upload(DeviceRef device, const std::vector<Tensor>& samples);         // from the host; waits
Copied gather(const DeviceBuffer& from, const std::vector<Tensor>& samples);        // waits for foreign memory only
void download(const DeviceBuffer& from, const std::vector<Tensor>& samples, void* to);                         // waits
void copy_out(const DeviceBuffer& from, const std::vector<Tensor>& samples, void* to, CUstream stream, bool wait);

}  // namespace ps::gpu
