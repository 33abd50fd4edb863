// What an operator is to the engine when it runs on a GPU: it records launches for a whole batch, whose shapes its
// setup() has found. An operator's class inherits this beside Operator.
#pragma once

#include <string>

#include "core/operator.h"
#include "cuda/record/decoded_input.h"
#include "cuda/record/functor.h"
#include "cuda/record/recorder.h"

namespace ps {

namespace gpu {
struct DecodeCounts;                   // cuda/decode/decode_counts.h
}

class GpuOperator {
 public:
  virtual ~GpuOperator() = default;
  // Records this operator's commands for all samples. Nothing runs yet. Outputs have memory.
  virtual void record(gpu::Recorder& r) const = 0;
  // What the CPU does for each sample before that work begins: run_host(), on the worker threads, after record().
  // `Context::outputs` are in device memory then; pinned memory for what they write comes from Recorder::pinned().
  virtual bool has_host_part() const { return false; }
  virtual void run_host(const Context& c) const { (void)c; }
  // Of decoders that choose among engines.
  virtual const gpu::DecodeCounts* decode_counts() const { return nullptr; }
};

namespace gpu {
std::string cpp_type(DType t);         // "uint8_t", "ps::device::half" ...
}

// An operator on pictures that can be a stage of a fused kernel (device/picture/picture.h): its functor is that stage.
// Alone it is a group of one. Pictures are whatever has height and width next to each other, channels before or behind,
// and any axes before both.
class StageOperator : public GpuOperator {
 public:
  // After setup(): why this sample does not fit. If one of a batch does not, the operators of the group run one by one,
  // and record_alone() does what a fused kernel cannot.
  virtual Misfit stage_misfit(const Context& c) const = 0;
  // The functor for this batch, by its first sample: all have the same types and numbers of axes.
  virtual Functor stage(const Context& c) const = 0;
  virtual void fill_stage(const Context& c, void* functor) const = 0;
  virtual void record_alone(gpu::Recorder& r) const = 0;
  // Whether each of its pixels needs just one of its input's: the same, or the one that the functor's region() names.
  virtual bool one_to_one() const { return false; }
  // Which window of the input a window of the output needs; by default, if pixels are not one to one, all of it.
  virtual Window needed(const Context& c, const Window& output) const;
  // How many columns and rows of the input so many of the output need, for stages that are one to one or tiled.
  virtual Extent tile_input(const Context& c, const Extent& output) const { return (void)c, output; }
  // Outputs besides the first.
  virtual void record_others(gpu::Recorder& r) const { (void)r; }
  // Of a stage with Functor::tiled: bytes of shared memory for tiles of device::kTile columns and so many rows.
  virtual int64_t tile_bytes(const Context& c, int rows) const { (void)c, (void)rows; return 0; }
  void record(gpu::Recorder& r) const final;
};

// A decoder whose pixels a fused kernel may make in its place.
class PictureDecoder : public GpuOperator {
 public:
  // Which of the recorder's samples are likely to be left as planes.
  virtual std::vector<gpu::DecodedSample> samples(const gpu::Recorder& r) const = 0;
  // Instead of record(): no output has memory.
  virtual void record_views(gpu::Recorder& r, const gpu::DecodedInput& input) const = 0;
};

}  // namespace ps
