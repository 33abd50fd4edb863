#include "cuda/flow/engine.h"

#include <algorithm>
#include <utility>

#include "core/error.h"
#include "cuda/driver/shared.h"

namespace ps::gpu {
namespace {

uint32_t cells(uint32_t extent, int grid) { return (extent + uint32_t(grid) - 1) / uint32_t(grid); }

}  // namespace

FlowHandle::FlowHandle(const Device& device) {
  const int status = nvof::api().create(device.context(), &handle_);
  if (status == nvof::kNotAvailable || status == nvof::kUnsupportedDevice)
    fail(ErrorKind::device, "this GPU (" + device.name() + ") has no engine for optical flow: Turing and newer do");
  nvof::check(status, "nvCreateOpticalFlowCuda", nullptr);
  try {
    limits_.output_grids = ask(nvof::kOutputGrids);
    limits_.hint_grids = ask(nvof::kHintGrids);
    limits_.hints = ask_one(nvof::kHints) != 0;
    limits_.least_width = ask_one(nvof::kLeastWidth), limits_.least_height = ask_one(nvof::kLeastHeight);
    limits_.most_width = ask_one(nvof::kMostWidth), limits_.most_height = ask_one(nvof::kMostHeight);
  } catch (...) {
    nvof::api().destroy(handle_);
    throw;
  }
}

FlowHandle::~FlowHandle() {
  if (!initialized_) {                           // the library frees all of a handle only if it was initialized
    nvof::InitParams least{};
    least.width = limits_.least_width, least.height = limits_.least_height;
    least.output_grid = limits_.output_grids.empty() ? 4 : int(limits_.output_grids[0]);
    least.mode = nvof::kModeFlow, least.level = nvof::kSlow;
    nvof::api().init(handle_, &least);
  }
  nvof::api().destroy(handle_);
}

std::vector<uint32_t> FlowHandle::ask(nvof::Capability what) const {
  uint32_t count = 0;
  nvof::check(nvof::api().capabilities(handle_, what, nullptr, &count), "nvOFGetCaps", handle_);
  std::vector<uint32_t> values(count);
  if (count) nvof::check(nvof::api().capabilities(handle_, what, values.data(), &count), "nvOFGetCaps", handle_);
  values.resize(std::min<size_t>(count, values.size()));
  return values;
}

uint32_t FlowHandle::ask_one(nvof::Capability what) const {
  const std::vector<uint32_t> values = ask(what);
  return values.empty() ? 0 : values[0];
}

void FlowHandle::init(const nvof::InitParams& params) {
  nvof::check(nvof::api().init(handle_, &params), "nvOFInit", handle_);
  initialized_ = true;
}

FlowBuffer::FlowBuffer(nvof::Handle handle, uint32_t width, uint32_t height, nvof::Usage usage, nvof::Format format) {
  const nvof::BufferParams params{width, height, usage, format};
  nvof::check(nvof::api().create_buffer(handle, &params, nvof::kDevicePointer, &buffer_), "nvOFCreateGPUBufferCuda",
              handle);
  nvof::Strides strides{};
  const int status = nvof::api().strides_of(buffer_, &strides);
  data_ = reinterpret_cast<void*>(nvof::api().pointer_of(buffer_));
  pitch_ = strides.planes[0].pitch;
  bytes_ = pitch_ * height;
  const int64_t row = int64_t(width) * (format == nvof::kGray8 ? 1 : 4);
  if (status == nvof::kOk && data_ && pitch_ >= row && pitch_ % 4 == 0) return;
  nvof::api().destroy_buffer(buffer_);
  nvof::check(status, "nvOFGPUBufferGetStrideInfo", handle);
  fail(ErrorKind::device, "NVIDIA's optical flow engine gave a buffer of " + std::to_string(pitch_) +
       " bytes a row for rows of " + std::to_string(row));
}

FlowBuffer::~FlowBuffer() { nvof::api().destroy_buffer(buffer_); }

FlowSession::FlowSession(Device& device, std::unique_ptr<FlowHandle> handle, const FlowKind& kind)
    : kind_(kind), stream_(&device, 0), handle_(std::move(handle)) {
  const auto& [width, height, grid, hint_grid, level, gray] = kind_;
  nvof::InitParams params{};
  params.width = width, params.height = height;
  params.output_grid = grid, params.hint_grid = hint_grid;
  params.mode = nvof::kModeFlow, params.level = level;
  params.external_hints = hint_grid != nvof::kNoGrid;
  nvof::check(nvof::api().set_streams(*handle_, stream_, stream_), "nvOFSetIOCudaStreams", *handle_);
  handle_->init(params);
  const auto make = [&](uint32_t w, uint32_t h, nvof::Usage usage, nvof::Format format) {
    return std::make_unique<FlowBuffer>(*handle_, w, h, usage, format);
  };
  for (auto& frame : frames_) frame = make(width, height, nvof::kInput, gray ? nvof::kGray8 : nvof::kAbgr8);
  vectors_ = make(cells(width, grid), cells(height, grid), nvof::kOutput, nvof::kShort2);
  if (params.external_hints)
    hints_ = make(cells(width, hint_grid), cells(height, hint_grid), nvof::kHint, nvof::kShort2);
}

FlowSession::~FlowSession() { driver().cuStreamSynchronize(stream_); }

void FlowSession::execute(int64_t number, bool temporal_hints) {
  nvof::ExecuteInput in{};
  in.input = frame(number), in.reference = frame(number - 1);
  if (hints_) in.hints = *hints_;
  in.no_temporal_hints = !temporal_hints;
  nvof::ExecuteOutput out{};
  out.vectors = *vectors_;
  nvof::check(nvof::api().execute(*handle_, &in, &out), "nvOFExecute", *handle_);
}

int64_t FlowSession::bytes() const {
  return 2 * frames_[0]->bytes() + vectors_->bytes() + (hints_ ? hints_->bytes() : 0);
}

std::shared_ptr<FlowEngine> FlowEngine::of(Device& device) {
  return Shared<int, FlowEngine>::get(device.number(), [&] { return std::make_shared<FlowEngine>(device); });
}

FlowEngine::FlowEngine(Device& device) : device_(device) {
  const Current current(device);
  unused_ = std::make_unique<FlowHandle>(device);
  limits_ = unused_->limits();
}

FlowEngine::~FlowEngine() {
  try {
    const Current current(device_);
    idle_.clear();
    unused_.reset();
  } catch (const Error&) {
    // The GPU has failed: there is nothing to be given back.
  }
}

std::unique_ptr<FlowSession> FlowEngine::make(const FlowKind& kind) {
  std::unique_ptr<FlowHandle> handle;
  {
    std::lock_guard lock(mutex_);
    handle = std::move(unused_);
  }
  if (!handle) handle = std::make_unique<FlowHandle>(device_);
  return std::make_unique<FlowSession>(device_, std::move(handle), kind);
}

std::unique_ptr<FlowSession> FlowEngine::take(const FlowKind& kind) {
  std::list<std::unique_ptr<FlowSession>> idle;
  {
    std::lock_guard lock(mutex_);
    const auto found = std::find_if(idle_.rbegin(), idle_.rend(), [&](const auto& s) { return s->kind() == kind; });
    if (found != idle_.rend()) {
      std::unique_ptr<FlowSession> session = std::move(*found);
      idle_.erase(std::next(found).base());
      return session;
    }
  }
  try {
    return make(kind);
  } catch (const Error& e) {
    if (e.kind != ErrorKind::memory) throw;
    std::lock_guard lock(mutex_);
    idle.swap(idle_);
    if (idle.empty()) throw;
  }
  idle.clear();                                  // their memory may be what is missing
  return make(kind);
}

void FlowEngine::give_back(std::unique_ptr<FlowSession> session) {
  if (!session) return;
  std::list<std::unique_ptr<FlowSession>> surplus;          // destructors wait, so without the lock
  std::lock_guard lock(mutex_);
  idle_.push_back(std::move(session));
  int64_t bytes = 0;
  for (const auto& one : idle_) bytes += one->bytes();
  for (; idle_.size() > 1 && (bytes > kMostIdle || idle_.size() > kMostSessions);
       surplus.splice(surplus.end(), idle_, idle_.begin()))
    bytes -= idle_.front()->bytes();
}

}  // namespace ps::gpu
