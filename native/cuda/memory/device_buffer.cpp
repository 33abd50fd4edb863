#include "cuda/memory/device_buffer.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include "core/error.h"

namespace ps::gpu {
namespace {

CUdeviceptr address(const void* p) { return reinterpret_cast<CUdeviceptr>(p); }

struct Piece {
  uint8_t* data;
  size_t bytes;
};

// Samples that lie one behind the other are one piece.
std::vector<Piece> pieces_of(const std::vector<Tensor>& samples) {
  std::vector<Piece> pieces;
  for (const Tensor& t : samples) {
    if (!t.bytes()) continue;
    if (!pieces.empty() && pieces.back().data + pieces.back().bytes == t.data) pieces.back().bytes += t.bytes();
    else pieces.push_back({t.as<uint8_t>(), t.bytes()});
  }
  return pieces;
}

size_t total(const std::vector<Tensor>& samples) {
  size_t bytes = 0;
  for (const Tensor& t : samples) bytes += t.bytes();
  return bytes;
}

void copy_on_device(const std::vector<Tensor>& samples, void* to, CUstream stream) {
  CUdeviceptr at = address(to);
  for (const Piece& p : pieces_of(samples)) {
    check(driver().cuMemcpyDtoDAsync_v2(at, address(p.data), p.bytes, stream), "cuMemcpyDtoDAsync");
    at += p.bytes;
  }
}

Copied new_block(DeviceRef device, BufferRef block, const EventRef& done) {
  block->add_fence(done);                   // its owner may free it before the copy has ended
  void* data = block->data();
  return {std::make_shared<DeviceBuffer>(device, std::vector<BufferRef>{std::move(block)}, done), data};
}

// Drivers before 12.5 cannot record an event after the work of all streams, nor can newer ones while a stream is being
// captured. A thread that gives memory back must not wait, as it may hold locks that the work needs: this thread waits.
class Waiter {
 public:
  static Waiter& get() {
    static Waiter& one = *new Waiter;       // as long as the process lives
    return one;
  }
  void keep(DeviceRef device, std::vector<BufferRef> buffers) {
    std::lock_guard lock(mutex_);
    waiting_.push_back({device, std::move(buffers)});
    if (!started_) std::thread([this] { loop(); }).detach();
    started_ = true;
    added_.notify_one();
  }

 private:
  struct Held {
    DeviceRef device;
    std::vector<BufferRef> buffers;
  };
  void loop() {
    std::unique_lock lock(mutex_);
    while (true) {
      added_.wait(lock, [&] { return !waiting_.empty(); });
      std::vector<Held> held = std::move(waiting_);
      waiting_.clear();
      lock.unlock();
      std::set<DeviceRef> devices;
      for (const Held& h : held) devices.insert(h.device);
      for (DeviceRef d : devices) wait_for(*d);
      held.clear();
      lock.lock();
    }
  }
  static void wait_for(const Device& device) {
    try {
      const Current current(device);
      // Another thread may be capturing a CUDA graph: until it ends, the driver refuses to wait.
      for (CUresult r; (r = driver().cuCtxSynchronize()) >= kFirstCaptureError && r <= kLastCaptureError;)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    } catch (const Error&) {
      // The process is about to end, or the device has failed: nothing will be written there again.
    }
  }
  std::mutex mutex_;
  std::condition_variable added_;
  std::vector<Held> waiting_;
  bool started_ = false;
};

}  // namespace

DeviceBuffer::DeviceBuffer(DeviceRef device, std::vector<BufferRef> buffers, EventRef ready,
                           std::shared_ptr<const void> owner)
    : device_(device), buffers_(std::move(buffers)), owner_(std::move(owner)), ready_(std::move(ready)) {}

DeviceBuffer::DeviceBuffer(std::vector<DeviceBufferRef> parts)
    : device_(parts.at(0)->device()), parts_(std::move(parts)) {
  for (const DeviceBufferRef& p : parts_)
    if (p->device() != device_)
      fail(ErrorKind::device, "memory of the GPUs " + std::to_string(device_->number()) + " and " +
                                  std::to_string(p->device()->number()) + " cannot be in one list");
}

DeviceBuffer::~DeviceBuffer() {
  if (lent_) keep_until_idle(device_, std::move(buffers_));
}

void keep_until_idle(DeviceRef device, std::vector<BufferRef> buffers) {
  if (buffers.empty()) return;
  try {
    const Current current(*device);
    const auto done = std::make_shared<Event>(device);
    for (const BufferRef& b : buffers) b->add_fence(done);
  } catch (const Error&) {
    Waiter::get().keep(device, std::move(buffers));
  }
}

bool DeviceBuffer::passed() const {
  Current current(*device_);
  return (!ready_ || ready_->passed()) &&
         std::all_of(parts_.begin(), parts_.end(), [](const DeviceBufferRef& p) { return p->passed(); });
}

void DeviceBuffer::wait() const {
  Current current(*device_);
  if (ready_) ready_->wait();
  for (const DeviceBufferRef& p : parts_) p->wait();
}

void DeviceBuffer::order(CUstream stream) const {
  Current current(*device_);
  if (ready_ && !ready_->passed()) ready_->wait_in(stream);
  for (const DeviceBufferRef& p : parts_) p->order(stream);
}

void DeviceBuffer::lend() {
  lent_ = true;
  for (const DeviceBufferRef& p : parts_) p->lend();
}

void DeviceBuffer::used(const EventRef& done) const {
  for (const BufferRef& b : buffers_) b->add_fence(done);
  for (const DeviceBufferRef& p : parts_) p->used(done);
}

bool DeviceBuffer::foreign() const {
  return owner_ || std::any_of(parts_.begin(), parts_.end(), [](const DeviceBufferRef& p) { return p->foreign(); });
}

CUstream copy_stream(DeviceRef device) {
  static std::mutex mutex;
  static auto& streams = *new std::map<DeviceRef, Stream>;     // never destroyed: the driver may be gone by then
  std::lock_guard lock(mutex);
  return streams.try_emplace(device, device, 0).first->second;
}

Copied upload(DeviceRef device, const std::vector<Tensor>& samples) {
  Current current(*device);
  const CUstream stream = copy_stream(device);
  BufferRef block = device->memory()->take(total(samples), stream);
  CUdeviceptr at = address(block->data());
  for (const Piece& p : pieces_of(samples)) {
    check(driver().cuMemcpyHtoDAsync_v2(at, p.data, p.bytes, stream), "cuMemcpyHtoDAsync");
    at += p.bytes;
  }
  const auto done = std::make_shared<Event>(device, stream);
  Copied copied = new_block(device, std::move(block), done);
  done->wait();
  return copied;
}

Copied gather(const DeviceBuffer& from, const std::vector<Tensor>& samples) {
  Current current(*from.device());
  const CUstream stream = copy_stream(from.device());
  BufferRef block = from.device()->memory()->take(total(samples), stream);
  from.order(stream);
  copy_on_device(samples, block->data(), stream);
  const auto done = std::make_shared<Event>(from.device(), stream);
  from.used(done);
  Copied copied = new_block(from.device(), std::move(block), done);
  if (from.foreign()) done->wait();         // its owner may free it at once
  return copied;
}

void download(const DeviceBuffer& from, const std::vector<Tensor>& samples, void* to) {
  Current current(*from.device());
  const CUstream stream = copy_stream(from.device());
  from.order(stream);
  auto* at = static_cast<uint8_t*>(to);
  for (const Piece& p : pieces_of(samples)) {
    check(driver().cuMemcpyDtoHAsync_v2(at, address(p.data), p.bytes, stream), "cuMemcpyDtoHAsync");
    at += p.bytes;
  }
  Event(from.device(), stream).wait();
}

void copy_out(const DeviceBuffer& from, const std::vector<Tensor>& samples, void* to, CUstream stream, bool wait) {
  Current current(*from.device());
  from.order(stream);
  copy_on_device(samples, to, stream);
  const auto done = std::make_shared<Event>(from.device(), stream);
  from.used(done);
  if (wait || from.foreign()) done->wait();
}

}  // namespace ps::gpu
