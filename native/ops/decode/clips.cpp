#include "ops/decode/clips.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <string>
#include <utility>

#include "cuda/record/layout.h"
#include "decode/video/library.h"

namespace ps {

// A worker's: one stream, in which its frames are made.
struct Clips::GpuState : State {
  std::unique_ptr<State> rows;                 // of the CPU's
  std::unique_ptr<gpu::Stream> stream;
};

// Which frames are decoded, and where they go.
struct Clips::Plan {
  std::vector<int64_t> frames;                 // rising
  std::multimap<int64_t, int64_t> places;      // by frame
  int64_t first = 0, last = 0;                 // for who keeps decoders
  size_t bytes = 0;                            // of these frames' packets

  explicit Plan(const ClipOrder& order) {
    for (int64_t i = 0; i < order.count; i++) {
      places.emplace(order.frames[i], i);
      if (order.frames[i] != kFilled) frames.push_back(order.frames[i]);
    }
    std::sort(frames.begin(), frames.end());
    frames.erase(std::unique(frames.begin(), frames.end()), frames.end());
    for (const int64_t f : frames) bytes += order.index.of_frame(f).bytes;
    if (!frames.empty()) first = frames.front(), last = frames.back();
  }
};

Clips::Clips(const Spec& s, size_t most) : writer_(s), kept_(most), kept_on_gpu_(most) {
  const std::string engine = s.string("video_engine");
  if (s.device == "cpu") return;
  device_ = gpu::Device::get(s.device_id);
  if (engine != "nvdec") return;
  engine_ = gpu::VideoEngine::of(*device_);
  kernel_ = gpu::KernelTable::of(*device_).request("#include \"device/video/frame.h\"\n" + PS_LAYOUT_OF(VideoFrame) +
                                                   "PS_VIDEO_FRAME_KERNEL()\n");
}

Clips::~Clips() = default;

std::unique_ptr<State> Clips::make_state() const {
  if (!device_) return writer_.make_state();
  auto state = std::make_unique<GpuState>();
  state->rows = writer_.make_state();
  return state;
}

void Clips::write(const ClipOrder& order, SequenceSource::Frames& out, State& state) const {
  const auto make = [&] { return std::make_unique<Video>(order.open(), order.index); };
  const auto use = [&](Video& video) { writer_.write(video, order.index, order.frames, order.count, out, state); };
  if (order.video == ClipOrder::kNotKept) return use(*make());
  const Plan plan(order);
  kept_.with(order.video, plan.first, plan.last, make, use);
}

void Clips::write_on_gpu(const ClipOrder& order, Tensor& out, State& s) const {
  if (out.bytes() == 0) return;
  const gpu::Current current(*device_);
  auto& state = static_cast<GpuState&>(s);
  if (!state.stream) state.stream = std::make_unique<gpu::Stream>(device_, 0);
  const Plan plan(order);
  fill(plan, out, state);
  if (plan.frames.empty()) return;
  if (engine_) {
    psv_coding coding{};
    video_library().coding(order.index.data(), &coding);
    if (engine_->problem(coding, order.index.head().width, order.index.head().height).empty()) {
      try {
        write_by_nvdec(order, plan, out, state);
        counts_.add(gpu::DecodedBy::nvdec, 1, plan.bytes);
        return;
      } catch (const gpu::Refused&) {
        counts_.refused++;
      }
    }
  }
  write_by_cpu(order, out, state);
  counts_.add(gpu::DecodedBy::cpu, 1, plan.bytes);
}

void Clips::write_by_nvdec(const ClipOrder& order, const Plan& plan, Tensor& out, GpuState& state) const {
  psv_coding coding{};
  video_library().coding(order.index.data(), &coding);
  device::VideoFrame job = writer_.job(order.index, coding);
  const gpu::CUfunction function = kernel_->function();
  const int64_t steps = (job.width + device::kFramePixels - 1) / device::kFramePixels * int64_t(job.height);
  const auto blocks = unsigned((steps + device::kFrameThreads - 1) / device::kFrameThreads);
  const auto take = [&](int64_t frame, const gpu::NvFrame& shown) {
    job.luma = shown.luma, job.chroma = shown.chroma, job.pitch = shown.pitch;
    const auto [begin, end] = plan.places.equal_range(frame);
    for (auto at = begin; at != end; ++at) {
      job.to = frame_of(out, at->second);
      void* parameters[] = {&job};
      gpu::check(gpu::driver().cuLaunchKernel(function, blocks, 1, 1, device::kFrameThreads, 1, 1, 0, *state.stream,
                                              parameters, nullptr),
                 "cuLaunchKernel");
    }
  };
  const auto make = [&] { return std::make_unique<gpu::NvVideo>(order.open(), order.index, engine_); };
  const auto use = [&](gpu::NvVideo& video) {
    video.decode(plan.frames.data(), int64_t(plan.frames.size()), *state.stream, take);
  };
  if (order.video == ClipOrder::kNotKept) return use(*make());
  kept_on_gpu_.with(order.video, plan.first, plan.last, make, use);
}

void Clips::write_by_cpu(const ClipOrder& order, Tensor& out, GpuState& state) const {
  const BufferRef memory = device_->pinned()->take(out.bytes());
  Tensor here = out;
  here.data = memory->data();
  FramesInMemory frames(here);
  write(order, frames, *state.rows);
  upload(here.data, out, state);
}

void Clips::fill(const Plan& plan, Tensor& out, GpuState& state) const {
  const auto [begin, end] = plan.places.equal_range(kFilled);
  if (begin == end) return;
  Tensor frame = out;
  frame.shape[0] = 1;
  const BufferRef memory = device_->pinned()->take(frame.bytes());
  frame.data = memory->data();
  writer_.write_filled(frame, *state.rows);
  for (auto at = begin; at != end; ++at) {
    Tensor there = frame;
    there.data = frame_of(out, at->second);
    upload(frame.data, there, state);
  }
}

void Clips::upload(const void* from, Tensor& to, State& s) const {
  if (to.bytes() == 0) return;
  const gpu::Current current(*device_);
  auto& state = static_cast<GpuState&>(s);
  if (!state.stream) state.stream = std::make_unique<gpu::Stream>(device_, 0);
  gpu::check(gpu::driver().cuMemcpyHtoDAsync_v2(reinterpret_cast<gpu::CUdeviceptr>(to.data), from, to.bytes(),
                                                *state.stream),
             "cuMemcpyHtoDAsync");
  gpu::check(gpu::driver().cuStreamSynchronize(*state.stream), "cuStreamSynchronize");
}

}  // namespace ps
