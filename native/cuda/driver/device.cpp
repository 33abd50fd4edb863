#include "cuda/driver/device.h"

#include <algorithm>
#include <map>

#include "core/bytes_setting.h"
#include "core/error.h"

namespace ps::gpu {
namespace {

std::mutex devices_mutex;
std::map<int, Device*> devices;

Budget budget(const char* variable, const std::string& memory) {
  return {bytes_setting(variable, 0), variable, memory};
}

struct DeviceAllocator : Allocator {
  CUcontext context;
  explicit DeviceAllocator(CUcontext c) : context(c) {}
  void* allocate(size_t bytes) override {
    CUdeviceptr p = 0;
    const bool ok = in_context([&] { return driver().cuMemAlloc_v2(&p, bytes) == kSuccess; });
    return ok ? reinterpret_cast<void*>(p) : nullptr;
  }
  void free(void* p, size_t) override {
    in_context([&] { return driver().cuMemFree_v2(reinterpret_cast<CUdeviceptr>(p)) == kSuccess; });
  }
  template <class F> bool in_context(F f) {
    if (driver().cuCtxPushCurrent_v2(context) != kSuccess) return false;
    const auto exchange = driver().cuThreadExchangeStreamCaptureMode;   // see Current
    int mode = 2;
    if (exchange) exchange(&mode);
    const bool ok = f();
    if (exchange) exchange(&mode);
    CUcontext old;
    driver().cuCtxPopCurrent_v2(&old);
    return ok;
  }
};

struct PinnedAllocator : DeviceAllocator {
  using DeviceAllocator::DeviceAllocator;
  void* allocate(size_t bytes) override {
    void* p = nullptr;
    const bool ok = in_context([&] { return driver().cuMemHostAlloc(&p, bytes, kHostAllocPortable) == kSuccess; });
    return ok ? p : nullptr;
  }
  void free(void* p, size_t) override {
    in_context([&] { return driver().cuMemFreeHost(p) == kSuccess; });
  }
};

}  // namespace

int Device::count() {
  int n = 0;
  check(driver().cuDeviceGetCount(&n), "cuDeviceGetCount");
  return n;
}

Device* Device::get(int number) {
  std::lock_guard lock(devices_mutex);
  Device*& d = devices[number];
  if (!d) d = new Device(number);
  return d;
}

std::vector<Device*> Device::used() {
  std::lock_guard lock(devices_mutex);
  std::vector<Device*> all;
  for (const auto& [number, d] : devices)
    if (d) all.push_back(d);
  return all;
}

void Device::enter() {
  std::lock_guard lock(mutex_);
  users_++;
}

void Device::leave() {
  {
    std::lock_guard lock(mutex_);
    if (--users_) return;
  }
  memory_->release_unused();
  pinned_->release_unused();
}

Device::Device(int number) : number_(number) {
  const int n = count();
  if (number < 0 || number >= n)
    fail(ErrorKind::device, "device_id=" + std::to_string(number) + ": this machine has " +
                                (n ? "the GPUs 0 to " + std::to_string(n - 1) : std::string("no GPU")));
  const Driver& d = driver();
  check(d.cuDeviceGet(&device_, number), "cuDeviceGet");
  const auto attribute = [&](int which) {
    int value = 0;
    check(d.cuDeviceGetAttribute(&value, which, device_), "cuDeviceGetAttribute");
    return value;
  };
  arch_ = attribute(kMajor) * 10 + attribute(kMinor);
  multiprocessors_ = attribute(kMultiprocessors);
  max_shared_ = attribute(kMaxSharedOptin);
  const std::string gpu = "GPU " + std::to_string(number);
  Budget memory = budget("PENSTOCK_DEVICE_MEMORY", "memory of " + gpu);
  Budget pinned = budget("PENSTOCK_PINNED_MEMORY", "pinned memory for " + gpu);
  check(d.cuDevicePrimaryCtxRetain(&context_, device_), "cuDevicePrimaryCtxRetain");
  memory_ = std::make_shared<Pool>(std::make_unique<DeviceAllocator>(context_), std::move(memory));
  pinned_ = std::make_shared<Pool>(std::make_unique<PinnedAllocator>(context_), std::move(pinned));
}

std::string Device::name() const {
  char text[256] = {};
  driver().cuDeviceGetName(text, sizeof text, device_);
  return text;
}

std::string Device::bus() const {
  char text[32] = {};
  driver().cuDeviceGetPCIBusId(text, sizeof text, device_);
  return text;
}

const std::shared_ptr<Pool>& Device::memory() { return memory_; }
const std::shared_ptr<Pool>& Device::pinned() { return pinned_; }

CUevent Device::take_event() {
  {
    std::lock_guard lock(mutex_);
    if (!events_.empty()) {
      CUevent e = events_.back();
      events_.pop_back();
      return e;
    }
  }
  CUevent e = nullptr;
  check(driver().cuEventCreate(&e, kEventDisableTiming), "cuEventCreate");
  return e;
}

void Device::give_event(CUevent event) {
  std::lock_guard lock(mutex_);
  events_.push_back(event);
}

Stream::Stream(DeviceRef device, int priority) : device_(std::move(device)) {
  Current current(*device_);
  int least = 0, greatest = 0;
  check(driver().cuCtxGetStreamPriorityRange(&least, &greatest), "cuCtxGetStreamPriorityRange");
  priority = std::clamp(priority, greatest, least);        // the greatest priority is the lowest number
  check(driver().cuStreamCreateWithPriority(&stream_, kStreamNonBlocking, priority), "cuStreamCreateWithPriority");
}

Stream::~Stream() {
  Current current(*device_);
  driver().cuStreamSynchronize(stream_);
  driver().cuStreamDestroy_v2(stream_);
}

Event::Event(DeviceRef device, CUstream stream) : device_(std::move(device)), stream_(stream) {
  event_ = device_->take_event();
  const CUresult r = driver().cuEventRecord(event_, stream);
  if (r == kSuccess) return;
  device_->give_event(event_);
  check(r, "cuEventRecord");
}

// Drivers have that since 12.5. None does it while a stream is being captured.
Event::Event(DeviceRef device) : device_(std::move(device)), stream_(nullptr) {
  const auto record = driver().cuCtxRecordEvent;
  if (!record) fail(ErrorKind::device, "this driver has no cuCtxRecordEvent");
  event_ = device_->take_event();
  const CUresult r = record(device_->context(), event_);
  if (r == kSuccess) return;
  device_->give_event(event_);
  check(r, "cuCtxRecordEvent");
}

Event::~Event() { device_->give_event(event_); }

bool Event::passed() const {
  if (passed_) return true;
  Current current(*device_);
  const CUresult r = driver().cuEventQuery(event_);
  if (r == kNotReady || (r >= kFirstCaptureError && r <= kLastCaptureError)) return false;
  passed_ = true;                                          // an error of the device must not hold memory for ever
  return true;
}

void Event::wait() const {
  if (passed_) return;
  Current current(*device_);
  check(driver().cuEventSynchronize(event_), "cuEventSynchronize");
  passed_ = true;
}

void Event::wait_in(CUstream stream) const {
  if (!passed_ && stream != stream_) check(driver().cuStreamWaitEvent(stream, event_, 0), "cuStreamWaitEvent");
}

}  // namespace ps::gpu
