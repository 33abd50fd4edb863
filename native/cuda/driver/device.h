// One GPU: its primary context, which it shares with PyTorch, JAX and CuPy, its streams and events.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/memory.h"
#include "cuda/driver/driver.h"

namespace ps::gpu {

class Device {
 public:
  // Once made, a device stays to the end of the process: consumers may hold its memory longer than any pipeline lives.
  // Throws Error(device) where there is no GPU of this number.
  static Device* get(int number);
  static int count();
  static std::vector<Device*> used();                      // those that were asked for so far
  explicit Device(int number);
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  int number() const { return number_; }
  int arch() const { return arch_; }                       // 90 for compute capability 9.0
  int multiprocessors() const { return multiprocessors_; }
  int max_shared() const { return max_shared_; }           // bytes of a block, when asked for
  std::string name() const;
  std::string bus() const;                                 // "0000:19:00.0"
  CUcontext context() const { return context_; }

  // Shared by all pipelines of the process. PENSTOCK_DEVICE_MEMORY and PENSTOCK_PINNED_MEMORY, read when the device is
  // first asked for, limit them: bytes, or such as 8G.
  const std::shared_ptr<Pool>& memory();                   // device memory
  const std::shared_ptr<Pool>& pinned();                   // page-locked host memory

  // Pipelines call these when they begin and end: with the last one, unused memory is given back.
  void enter();
  void leave();

  CUevent take_event();
  void give_event(CUevent event);

 private:
  int number_;
  CUdevice device_ = 0;
  CUcontext context_ = nullptr;
  int arch_ = 0, multiprocessors_ = 0, max_shared_ = 0;
  std::mutex mutex_;
  std::vector<CUevent> events_;
  int users_ = 0;
  std::shared_ptr<Pool> memory_, pinned_;
};
using DeviceRef = Device*;

// Makes the device's context current in this thread, for as long as this object lives. What this thread does then is no
// part of a CUDA graph that another thread of the process may be capturing, and does not invalidate it.
class Current {
 public:
  explicit Current(const Device& device) {
    check(driver().cuCtxPushCurrent_v2(device.context()), "cuCtxPushCurrent");
    exchange_mode();
  }
  ~Current() {
    exchange_mode();
    CUcontext old;
    driver().cuCtxPopCurrent_v2(&old);
  }
  Current(const Current&) = delete;
  Current& operator=(const Current&) = delete;

 private:
  void exchange_mode() {
    if (driver().cuThreadExchangeStreamCaptureMode) driver().cuThreadExchangeStreamCaptureMode(&mode_);
  }
  int mode_ = 2;                                           // CU_STREAM_CAPTURE_MODE_RELAXED
};

class Stream {
 public:
  Stream(DeviceRef device, int priority);
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  operator CUstream() const { return stream_; }

 private:
  DeviceRef device_;
  CUstream stream_ = nullptr;
};

// A point in a stream's work: memory that the work before it uses is free when the GPU has passed it.
class Event : public Fence {
 public:
  Event(DeviceRef device, CUstream stream);                // recorded here, with the context current
  // After all work of the context, whatever stream it is on. Throws Error(device) where the driver cannot record that.
  explicit Event(DeviceRef device);
  ~Event() override;
  bool passed() const override;
  void wait() const override;                              // on the host
  bool before(const void* stream) const override { return stream == stream_; }
  void wait_in(CUstream stream) const;                     // the stream waits
  CUevent handle() const { return event_; }

 private:
  DeviceRef device_;
  CUstream stream_;
  CUevent event_ = nullptr;
  mutable std::atomic<bool> passed_{false};
};
using EventRef = std::shared_ptr<Event>;

}  // namespace ps::gpu
