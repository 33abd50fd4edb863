// The bytes of a video, its index, and which of its frames -> these. Many samples are of one video.
#include <numeric>
#include <vector>

#include "ops/decode/clips.h"
#include "ops/decode/file.h"

namespace ps {
namespace {

constexpr size_t kMostOpen = 4;                    // decoders that are kept for sequences to come

class InputVideo : public SequenceSource, public GpuOperator {
 public:
  static constexpr Count kInputs{3, 3};
  explicit InputVideo(const Spec& s) : clips_(s, kMostOpen) {}

  std::unique_ptr<State> make_state() const override { return clips_.make_state(); }

  void setup(const Context& c) const override {
    check_file(c.in(0));
    clips_.describe(index(c), clip(c).wanted, c.out(0));
  }

  void produce(const Context& c, Frames& out) const override {
    with_order(c, [&](const ClipOrder& order) { clips_.write(order, out, *c.state); });
  }

  void record(gpu::Recorder&) const override {}
  bool has_host_part() const override { return true; }
  void run_host(const Context& c) const override {
    with_order(c, [&](const ClipOrder& order) { clips_.write_on_gpu(order, c.out(0), *c.state); });
  }
  const gpu::DecodeCounts* decode_counts() const override { return clips_.counts(); }

 private:
  struct Clip {
    int64_t video, first, count, wanted;           // the number of the video; frames
  };

  static Clip clip(const Context& c) {
    const auto* v = c.in(2).as<int64_t>();
    return {v[0], v[1], v[2], v[3]};
  }
  static VideoIndex index(const Context& c) { return VideoIndex(c.in(1).data); }

  template <class F> static void with_order(const Context& c, F f) {
    const Clip k = clip(c);
    std::vector<int64_t> frames(size_t(k.wanted), kFilled);
    std::iota(frames.begin(), frames.begin() + k.count, k.first);
    const VideoIndex all = index(c);
    f(ClipOrder{k.video, all, frames.data(), k.wanted,
                [&c] { return std::make_unique<VideoBytes>(c.in(0).data, c.in(0).bytes()); }});
  }

  // Decoders of a video whose memory is gone are never taken again: its number does not come back.
  Clips clips_;
};

PS_OPERATOR("input_video", InputVideo)

}  // namespace
}  // namespace ps
