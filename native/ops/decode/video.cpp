// The bytes of a video's file -> some of its frames.
#include <algorithm>
#include <cstring>
#include <string>

#include "ops/decode/clips.h"
#include "ops/decode/file.h"

namespace ps {
namespace {

class DecodeVideo : public SequenceSource, public GpuOperator {
 public:
  explicit DecodeVideo(const Spec& s)
      : start_(s.arg<int64_t>("start_frame")), end_(s.arg<int64_t>("end_frame")), stride_(s.arg<int64_t>("stride")),
        length_(s.arg<int64_t>("sequence_length")), frames_(s.arg<int64_t>("frames")),
        clips_(s, 0) {
    const ArgValue* mode = s.find("pad_mode");
    if (mode && mode->input >= 0) pad_input_ = mode->input;
    else pad_ = pad_mode_of(s.string("pad_mode"));
  }

  size_t params_size() const override { return sizeof(Params); }
  std::unique_ptr<State> make_state() const override { return clips_.make_state(); }

  // The index goes along with the sample, in memory that lasts as long.
  void setup(const Context& c) const override {
    check_file(c.in(0));
    Params& p = c.param<Params>() = {};
    VideoBytes bytes(c.in(0).data, c.in(0).bytes());
    const std::vector<int64_t> block = index_video(bytes);
    void* memory = c.lasting->take(block.size() * 8);
    std::memcpy(memory, block.data(), block.size() * 8);
    p.index = memory;
    choose(c, p, VideoIndex(memory).frames());
    clips_.describe(VideoIndex(memory), p.count, c.out(0));
  }

  void produce(const Context& c, Frames& out) const override {
    const VideoIndex index(c.param<Params>().index);
    clips_.write(order(c, index), out, *c.state);
  }

  // All is done by the worker threads, each of which drives a decoder of the GPU's.
  void record(gpu::Recorder&) const override {}
  bool has_host_part() const override { return true; }
  void run_host(const Context& c) const override {
    const VideoIndex index(c.param<Params>().index);
    clips_.write_on_gpu(order(c, index), c.out(0), *c.state);
  }
  const gpu::DecodeCounts* decode_counts() const override { return clips_.counts(); }

 private:
  struct Params {
    const void* index;
    const int64_t* frames;
    int64_t count;
  };

  static ClipOrder order(const Context& c, const VideoIndex& index) {
    const Params& p = c.param<Params>();
    return {ClipOrder::kNotKept, index, p.frames, p.count,
            [&c] { return std::make_unique<VideoBytes>(c.in(0).data, c.in(0).bytes()); }};
  }

  void choose(const Context& c, Params& p, int64_t all) const {
    int64_t start = 0, stride = 1, end = all;
    const PadMode pad = pad_mode(c);
    if (frames_.given()) {
      p.count = frames_.size(c);
    } else {
      start = start_.given() ? start_.get(c) : 0;
      stride = stride_.given() ? stride_.get(c) : 1;
      if (stride < 1) refuse("stride", stride, "expected 1 or more");
      if (start >= all) refuse("start_frame", start, "the video has " + std::to_string(all) + " frames");
      if (length_.given()) {
        p.count = length_.get(c);
        if (p.count < 0) refuse("sequence_length", p.count, "expected 0 or more");
        if (pad == PadMode::none) p.count = std::min(p.count, (all - start + stride - 1) / stride);
      } else {
        if (end_.given()) end = end_.get(c);
        if (end <= start) refuse("end_frame", end, "it must be behind start_frame=" + std::to_string(start));
        if (pad == PadMode::none) end = std::min(end, all);
        p.count = (end - start - 1) / stride + 1;
      }
    }
    auto* to = static_cast<int64_t*>(c.lasting->take(size_t(std::max<int64_t>(p.count, 1)) * 8));
    for (int64_t i = 0; i < p.count; i++)
      to[i] = padded_frame(frames_.given() ? frames_.get(c, i) : start + i * stride, 0, all, pad);
    p.frames = to;
  }

  PadMode pad_mode(const Context& c) const {
    if (pad_input_ < 0) return pad_;
    const Tensor& text = *c.args[pad_input_];
    return pad_mode_of(size_of(text.dtype) == 1 ? std::string_view(text.as<char>(), text.bytes()) : "");
  }

  [[noreturn]] static void refuse(const char* argument, int64_t value, const std::string& problem) {
    fail(ErrorKind::argument, std::string(argument) + "=" + std::to_string(value) + ": " + problem);
  }

  Arg<int64_t> start_, end_, stride_, length_, frames_;
  PadMode pad_ = PadMode::none;
  int pad_input_ = -1;                             // its characters, where it is given for each sample
  Clips clips_;
};

PS_OPERATOR("decode_video", DecodeVideo)

}  // namespace
}  // namespace ps
