// Sequences that go through operators frame by frame, each frame as a picture in a row pipeline (core/rows.h).
#pragma once

#include <optional>

#include "core/operator.h"
#include "rows/memory_rows.h"

namespace ps {

// Where a frame begins, in a sequence whose first axis is that of frames.
inline void* frame_of(const Tensor& t, int64_t frame) {
  return t.as<uint8_t>() + t.bytes() / size_t(t.shape[0]) * size_t(frame);
}

// Of a RowOperator that takes them. The tensors of a Context are the whole sequences.
class FrameStages {
 public:
  static constexpr Misfit kNoFrames = "the input is not one sequence (frames, height, width, channels)";
  virtual ~FrameStages() = default;
  // After setup(): why this sample's frames cannot be processed row by row; or `fits`.
  virtual Misfit frames_misfit(const Context& c) const = 0;
  // As RowOperator::begin(), for the frame at this place.
  virtual RowStage* begin_frame(const Context& c, int64_t frame) const = 0;
};

// An operator that gives the rows of a sequence's frames: a decoder of videos. Its first output is the sequence.
class SequenceSource : public Operator {
 public:
  // Takes the frames, whole rows of their windows, in any order.
  struct Frames {
    virtual ~Frames() = default;
    virtual RowSink& begin(int64_t frame, Window& wanted) = 0;
  };
  virtual void produce(const Context& c, Frames& frames) const = 0;
  void run(const Context& c) const override;            // all of them into the output
};

// Frames that go into a tensor.
struct FramesInMemory : SequenceSource::Frames {
  Tensor& to;
  std::optional<MemorySink> sink;
  explicit FramesInMemory(Tensor& t) : to(t) {}
  RowSink& begin(int64_t frame, Window& wanted) override {
    sink.emplace(frame_of(to, frame), picture_format(to));
    wanted = sink->window();
    return *sink;
  }
};

}  // namespace ps
