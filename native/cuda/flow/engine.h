// The engine for optical flow of one GPU: what it can do, and sessions with it that are used again for other frames.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "cuda/driver/device.h"
#include "cuda/flow/nvof.h"

namespace ps::gpu {

// What the engine says of itself.
struct FlowLimits {
  std::vector<uint32_t> output_grids, hint_grids;
  bool hints = false;
  uint32_t least_width = 0, least_height = 0, most_width = 0, most_height = 0;
};

// What a session is made for.
struct FlowKind {
  uint32_t width = 0, height = 0;
  int output_grid = 4, hint_grid = nvof::kNoGrid;          // kNoGrid: without hints
  int level = nvof::kSlow;
  bool gray = false;
  bool operator==(const FlowKind&) const = default;
};

// The library's handle.
class FlowHandle {
 public:
  explicit FlowHandle(const Device& device);               // throws Error(device)
  ~FlowHandle();
  FlowHandle(const FlowHandle&) = delete;
  FlowHandle& operator=(const FlowHandle&) = delete;
  operator nvof::Handle() const { return handle_; }
  const FlowLimits& limits() const { return limits_; }
  void init(const nvof::InitParams& params);

 private:
  std::vector<uint32_t> ask(nvof::Capability what) const;
  uint32_t ask_one(nvof::Capability what) const;

  nvof::Handle handle_ = nullptr;
  FlowLimits limits_;
  bool initialized_ = false;
};

// Memory that the engine reads or writes.
class FlowBuffer {
 public:
  FlowBuffer(nvof::Handle handle, uint32_t width, uint32_t height, nvof::Usage usage, nvof::Format format);
  ~FlowBuffer();
  FlowBuffer(const FlowBuffer&) = delete;
  FlowBuffer& operator=(const FlowBuffer&) = delete;
  operator nvof::Buffer() const { return buffer_; }
  void* data() const { return data_; }
  int64_t pitch() const { return pitch_; }
  int64_t bytes() const { return bytes_; }

 private:
  nvof::Buffer buffer_ = nullptr;
  void* data_ = nullptr;
  int64_t pitch_ = 0, bytes_ = 0;
};

// A session. All of its work goes in a stream of its own, which lives as long: the library keeps the streams that it
// was given. The device's context must be current when it is made, and when it goes, which waits for its work.
class FlowSession {
 public:
  FlowSession(Device& device, std::unique_ptr<FlowHandle> handle, const FlowKind& kind);
  ~FlowSession();
  FlowSession(const FlowSession&) = delete;
  FlowSession& operator=(const FlowSession&) = delete;

  const FlowKind& kind() const { return kind_; }
  CUstream stream() const { return stream_; }
  FlowBuffer& frame(int64_t number) const { return *frames_[number % 2]; }    // of this frame, or of the last but one
  FlowBuffer& hints() const { return *hints_; }
  FlowBuffer& vectors() const { return *vectors_; }
  // Vectors from this frame's pixels into the one before, when the stream comes to it.
  void execute(int64_t number, bool temporal_hints);
  int64_t bytes() const;

 private:
  FlowKind kind_;
  Stream stream_;
  std::unique_ptr<FlowHandle> handle_;
  std::unique_ptr<FlowBuffer> frames_[2], hints_, vectors_;
};

class FlowEngine {
 public:
  // Of all operators that use this GPU at the same time. Throws Error(device) where there is no library or no engine.
  static std::shared_ptr<FlowEngine> of(Device& device);
  explicit FlowEngine(Device& device);
  ~FlowEngine();

  Device& device() const { return device_; }
  const FlowLimits& limits() const { return limits_; }
  // With the context current.
  std::unique_ptr<FlowSession> take(const FlowKind& kind);
  void give_back(std::unique_ptr<FlowSession> session);

 private:
  static constexpr int64_t kMostIdle = int64_t(256) << 20;  // bytes of buffers: to make a session takes long
  static constexpr size_t kMostSessions = 16;
  std::unique_ptr<FlowSession> make(const FlowKind& kind);

  Device& device_;
  FlowLimits limits_;
  std::mutex mutex_;
  std::unique_ptr<FlowHandle> unused_;                      // that was asked for the limits
  std::list<std::unique_ptr<FlowSession>> idle_;            // the last used at the end
};

}  // namespace ps::gpu
