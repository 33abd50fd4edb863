// Clips of videos, kept decoders and all, on the CPU or on a GPU: the part that operators share which give sequences of
// frames. On a GPU NVIDIA's decoder does the work; what it does not take, or gives up, the CPU decodes.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "cuda/decode/decode_counts.h"
#include "cuda/decode/nvdec/nv_video.h"
#include "cuda/driver/kernel.h"
#include "cuda/record/operator.h"
#include "ops/decode/clip.h"
#include "ops/decode/kept_videos.h"

namespace ps {

// Some frames of a video, which are in any order; some may be kFilled.
struct ClipOrder {
  int64_t video;                               // its number: decoders are kept by it; kNotKept: of no use later
  const VideoIndex& index;
  const int64_t* frames;
  int64_t count;
  std::function<std::unique_ptr<VideoBytes>()> open;
  static constexpr int64_t kNotKept = -1;
};

class Clips {
 public:
  // `most`: decoders that are kept.
  Clips(const Spec& s, size_t most);
  ~Clips();
  std::unique_ptr<State> make_state() const;
  void describe(const VideoIndex& index, int64_t count, Tensor& out) const { writer_.describe(index, count, out); }

  void write(const ClipOrder& order, SequenceSource::Frames& out, State& state) const;
  // Into device memory; done when it returns.
  void write_on_gpu(const ClipOrder& order, Tensor& out, State& state) const;
  void upload(const void* from, Tensor& to, State& state) const;         // waits
  const gpu::DecodeCounts* counts() const { return device_ ? &counts_ : nullptr; }

 private:
  struct GpuState;
  struct Plan;
  void write_by_nvdec(const ClipOrder& order, const Plan& plan, Tensor& out, GpuState& state) const;
  void write_by_cpu(const ClipOrder& order, Tensor& out, GpuState& state) const;
  void fill(const Plan& plan, Tensor& out, GpuState& state) const;

  ClipWriter writer_;
  gpu::DeviceRef device_ = nullptr;            // null: all is on the CPU
  std::shared_ptr<gpu::VideoEngine> engine_;   // null: the CPU decodes
  gpu::Kernel* kernel_ = nullptr;
  mutable Kept<Video> kept_;
  mutable Kept<gpu::NvVideo> kept_on_gpu_;
  mutable gpu::DecodeCounts counts_;
};

}  // namespace ps
