// Frames of a video as a tensor: which they are, and how they become pixels. Shared by what decodes videos in memory
// and what reads files.
#pragma once

#include <cstdint>
#include <vector>

#include "core/operator.h"
#include "decode/orient.h"
#include "decode/video/color.h"
#include "decode/video/video.h"
#include "device/video/frame.h"
#include "penstock.h"
#include "rows/frames.h"

namespace ps {

// What there is for a frame that lies outside.
enum class PadMode { none, constant, edge, reflect_1001, reflect_101 };

PadMode pad_mode_of(std::string_view name);   // throws Error(argument) for other names

inline constexpr int64_t kFilled = -1;        // in place of a frame's number: it is filled

// The frame that stands at this place: of those from `begin` to `end`, which are some; or kFilled.
int64_t padded_frame(int64_t at, int64_t begin, int64_t end, PadMode mode);

// Turns frames into pixels of the output's type.
class ClipWriter {
 public:
  explicit ClipWriter(const Spec& s);
  std::unique_ptr<State> make_state() const;
  // The shape of `count` frames of this video, F x H x W x C.
  void describe(const VideoIndex& index, int64_t count, Tensor& out) const;
  // Decodes these frames, which are in any order, into those of the output; some may be kFilled.
  void write(Video& video, const VideoIndex& index, const int64_t* frames, int64_t count,
             SequenceSource::Frames& out, State& state) const;
  // The pixels of a frame that stands for one which is not there.
  void write_filled(Tensor& frame, State& state) const;
  // For the GPU: all of a frame's job but where it is read and written.
  device::VideoFrame job(const VideoIndex& index, const psv_coding& coding) const;

 private:
  struct Rows;
  void convert(const VideoIndex& index, const psv_picture& picture, const Window& window, RowSink& sink,
               Rows& rows) const;
  void fill(const Window& window, RowSink& sink, Rows& rows) const;

  bool upright_, to_ycbcr_, normalized_;
  DType dtype_;
  psv_matrix matrix_;                         // PSV_UNKNOWN: that of the stream
  std::vector<uint8_t> fill_;
};

}  // namespace ps
