// Memory of a GPU in the hands of others than the engine: whoever looks at it must know when its contents are there, and
// the engine when it may be used again.
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "core/memory.h"
#include "core/tensor.h"
#include "cuda/driver/device.h"

namespace ps::gpu {

class Lease;
using LeaseRef = std::shared_ptr<Lease>;

class Lease {
 public:
  // Blocks of the device's pool, or memory of somebody else that `owner` keeps. The contents are there when `ready` has
  // passed (null: now).
  Lease(DeviceRef device, std::vector<BufferRef> buffers, EventRef ready, std::shared_ptr<const void> owner = {});
  // Several on one device, as one.
  explicit Lease(std::vector<LeaseRef> parts);
  ~Lease();
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;

  DeviceRef device() const { return device_; }
  bool passed() const;                      // whether the contents are there
  void wait() const;                        // on the host
  void order(CUstream stream) const;        // what is put into the stream from now on finds the contents there
  // Somebody else learns the address, and may use it on any stream, without saying so, until this object is gone. The
  // blocks are then used again only after all work that was given to the device by that time, on whatever stream.
  void lend();
  // Work of our own uses the memory until `done`. That foreign memory lives as long is the caller's concern.
  void used(const EventRef& done) const;
  bool foreign() const;                     // whether any of the memory is somebody else's

 private:
  DeviceRef device_;
  std::vector<BufferRef> buffers_;
  std::shared_ptr<const void> owner_;
  std::vector<LeaseRef> parts_;
  EventRef ready_;
  std::atomic<bool> lent_{false};
};

// Lets go of blocks that others may have given work to, on any stream, without saying so: they are used again only
// after all work that the device has been given by now. Waits for nothing.
void keep_until_idle(DeviceRef device, std::vector<BufferRef> buffers);

// The stream of copies that consumers ask for; as long as the process lives.
CUstream copy_stream(DeviceRef device);

// Samples, from wherever they are, one behind the other.
struct Copied {
  LeaseRef lease;
  void* data;
};
Copied upload(DeviceRef device, const std::vector<Tensor>& samples);         // from the host; waits
Copied gather(const Lease& from, const std::vector<Tensor>& samples);        // waits for foreign memory only
void download(const Lease& from, const std::vector<Tensor>& samples, void* to);                         // waits
void copy_out(const Lease& from, const std::vector<Tensor>& samples, void* to, CUstream stream, bool wait);

}  // namespace ps::gpu
