#include "cuda/record/recorder.h"

#include <algorithm>
#include <cstring>

#include "cuda/record/layout.h"
#include "cuda/record/operator.h"

namespace ps::gpu {
namespace {

constexpr size_t kAlign = 256;

}  // namespace

void Recorder::begin(int node, std::vector<Context> samples, bool front) {
  node_ = node;
  in_front_ = front;
  samples_ = std::move(samples);
}

void Recorder::add(Command c) {
  c.node = node_;
  c.front = in_front_;
  commands_.push_back(std::move(c));
}

size_t Recorder::add_upload(const void* data, size_t bytes) {
  const size_t at = (upload_.size() + kAlign - 1) / kAlign * kAlign;
  upload_.resize(at + bytes);
  if (bytes) std::memcpy(upload_.data() + at, data, bytes);
  return at;
}

void Recorder::launch(const std::string& source, const std::vector<int>& blocks, const std::vector<uint8_t>& jobs,
                      size_t stride, int threads, int shared_bytes) {
  std::vector<int32_t> first(blocks.size() + 1);
  int64_t total = 0;
  for (size_t i = 0; i < blocks.size(); i++) {
    first[i] = int32_t(total);
    total += blocks[i];
    if (total > INT32_MAX) fail(ErrorKind::unsupported, "this batch needs more blocks than a GPU launches at a time");
  }
  first[blocks.size()] = int32_t(total);
  if (!total) return;
  Command c;
  c.kernel = KernelTable::of(*device_).request(source);
  c.jobs_at = add_upload(jobs.data(), jobs.size());
  c.first_at = add_upload(first.data(), first.size() * sizeof(int32_t));
  c.stride = int(stride);
  c.samples = int(blocks.size());
  c.blocks = int(total);
  c.threads = threads;
  c.shared = shared_bytes;
  add(std::move(c));
  sources_.push_back(source);
}

void Recorder::elements(const Functor& functor, const std::function<int64_t(const Context&, void*)>& fill) {
  constexpr int64_t per_block = device::kElementThreads * device::kElementsPerThread;
  constexpr size_t head = 16;                       // ElementJob's count, and what aligns the functor
  const size_t align = functor.align > sizeof(int64_t) ? head : sizeof(int64_t);
  const size_t stride = (align + functor.bytes + 15) / 16 * 16;
  std::vector<uint8_t> jobs(stride * samples_.size());
  std::vector<int> blocks(samples_.size());
  for (size_t i = 0; i < samples_.size(); i++) {
    const int64_t count = fill(samples_[i], jobs.data() + stride * i + align);
    std::memcpy(jobs.data() + stride * i, &count, sizeof count);
    blocks[i] = int((count + per_block - 1) / per_block);
  }
  launch("#include \"device/tensor/elements.h\"\n#include \"" + functor.header + "\"\n" + functor.text +
             PS_LAYOUT_OF(Launch) + layout(functor.type, functor.bytes, functor.align) + "PS_ELEMENT_KERNEL(" +
             functor.type + ")\n",
         blocks, jobs, stride, device::kElementThreads);
}

void Recorder::call(std::function<void(CUstream)> f) {
  Command c;
  c.call = std::move(f);
  add(std::move(c));
}

void Recorder::call_ahead(std::function<void(CUstream)> f) {
  Command c;
  c.call = std::move(f);
  c.ahead = true;
  add(std::move(c));
}

bool Recorder::has_ahead() const {
  return std::any_of(commands_.begin(), commands_.end(), [](const Command& c) { return c.ahead; });
}

void Recorder::run_ahead() {
  for (Command& c : commands_)
    if (c.ahead) enqueue(c, nullptr, ahead_);
  ahead_done_ = std::make_shared<Event>(device_, ahead_);
}

void Recorder::copy_to_device(void* to, const void* from, size_t bytes) {
  if (!bytes) return;
  call([=](CUstream s) {
    check(driver().cuMemcpyHtoDAsync_v2(reinterpret_cast<CUdeviceptr>(to), from, bytes, s), "cuMemcpyHtoDAsync");
  });
}

void Recorder::copy_to_host(void* to, const void* from, size_t bytes) {
  if (!bytes) return;
  call([=](CUstream s) {
    check(driver().cuMemcpyDtoHAsync_v2(to, reinterpret_cast<CUdeviceptr>(from), bytes, s), "cuMemcpyDtoHAsync");
  });
}

void Recorder::copy(void* to, const void* from, size_t bytes) {
  if (!bytes) return;
  call([=](CUstream s) {
    const auto out = reinterpret_cast<CUdeviceptr>(to), in = reinterpret_cast<CUdeviceptr>(from);
    check(driver().cuMemcpyDtoDAsync_v2(out, in, bytes, s), "cuMemcpyDtoDAsync");
  });
}

void Recorder::fill_bytes(void* to, uint8_t value, size_t bytes) {
  if (!bytes) return;
  call([=](CUstream s) {
    check(driver().cuMemsetD8Async(reinterpret_cast<CUdeviceptr>(to), value, bytes, s), "cuMemsetD8Async");
  });
}

void* Recorder::scratch(size_t bytes) {
  memory_.push_back(device_->memory()->take(bytes, in_front_ ? nullptr : compute_));
  return memory_.back()->data();
}

void* Recorder::pinned(size_t bytes) {
  memory_.push_back(device_->pinned()->take(bytes));
  return memory_.back()->data();
}

const void* Recorder::constant(const void* data, size_t bytes) {
  void* host = pinned(bytes);
  void* there = scratch(bytes);
  if (bytes) std::memcpy(host, data, bytes);
  copy_to_device(there, host, bytes);
  return there;
}

void Recorder::enqueue(Command& c, const uint8_t* jobs, CUstream stream) {
  node_ = c.node;
  if (c.call) return c.call(stream);
  const CUfunction function = c.kernel->function();
  if (c.shared > 48 * 1024)
    check(driver().cuFuncSetAttribute(function, kFunctionMaxDynamicShared, c.shared), "cuFuncSetAttribute");
  device::Launch launch{jobs + c.jobs_at, reinterpret_cast<const int32_t*>(jobs + c.first_at), c.stride, c.samples};
  void* parameters[] = {&launch};
  check(driver().cuLaunchKernel(function, unsigned(c.blocks), 1, 1, unsigned(c.threads), 1, 1, unsigned(c.shared),
                                stream, parameters, nullptr),
        "cuLaunchKernel");
}

void Recorder::run() {
  in_front_ = true;
  uint8_t* jobs = nullptr;
  if (!upload_.empty()) {
    jobs = static_cast<uint8_t*>(scratch(upload_.size()));
    void* here = pinned(upload_.size());
    std::memcpy(here, upload_.data(), upload_.size());
    check(driver().cuMemcpyHtoDAsync_v2(reinterpret_cast<CUdeviceptr>(jobs), here, upload_.size(), front_),
          "cuMemcpyHtoDAsync");
  }
  for (Command& c : commands_)
    if (c.front && !c.ahead) enqueue(c, jobs, front_);
  Event(device_, front_).wait_in(compute_);
  if (ahead_done_) ahead_done_->wait_in(compute_);
  for (Command& c : commands_)
    if (!c.front && !c.ahead) enqueue(c, jobs, compute_);
}

}  // namespace ps::gpu
