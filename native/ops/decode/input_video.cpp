// The bytes of a video, its index, and which of its frames -> these. Many samples are of one video.
#include <numeric>
#include <vector>

#include "ops/decode/clip.h"
#include "ops/decode/file.h"
#include "ops/decode/kept_videos.h"

namespace ps {
namespace {

constexpr size_t kMostOpen = 4;                    // decoders that are kept for sequences to come

class InputVideo : public SequenceSource {
 public:
  static constexpr Count kInputs{3, 3};
  explicit InputVideo(const Spec& s) : writer_(s), kept_(kMostOpen) {}

  std::unique_ptr<State> make_state() const override { return writer_.make_state(); }

  void setup(const Context& c) const override {
    check_file(c.in(0));
    writer_.describe(index(c), clip(c).wanted, c.out(0));
  }

  void produce(const Context& c, Frames& out) const override {
    const Clip k = clip(c);
    std::vector<int64_t> frames(size_t(k.wanted), kFilled);
    std::iota(frames.begin(), frames.begin() + k.count, k.first);
    const VideoIndex all = index(c);
    kept_.with(
        k.video, all, k.first, k.first + k.count - 1,
        [&] { return std::make_unique<VideoBytes>(c.in(0).data, c.in(0).bytes()); },
        [&](Video& video) { writer_.write(video, all, frames.data(), k.wanted, out, *c.state); });
  }

 private:
  struct Clip {
    int64_t video, first, count, wanted;           // the number of the video; frames
  };

  static Clip clip(const Context& c) {
    const auto* v = c.in(2).as<int64_t>();
    return {v[0], v[1], v[2], v[3]};
  }
  static VideoIndex index(const Context& c) { return VideoIndex(c.in(1).data); }

  ClipWriter writer_;
  // Those of a video whose memory is gone are never taken again: its number does not come back.
  mutable KeptVideos kept_;
};

PS_OPERATOR("input_video", InputVideo)

}  // namespace
}  // namespace ps
