// Videos in files: the number of a sample -> a sequence of frames, and what is known of it.
//
// The index of each video comes as one block of a table (native/video/index.h), so shapes are known without a look at
// the file. Open files with their decoders are kept at the places where they are, and taken by who needs them next.
#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <vector>

#include "core/operator.h"
#include "ops/decode/clips.h"
#include "ops/read/tables.h"
#include "read/storage.h"

namespace ps {
namespace {

constexpr size_t kMostOpen = 48;                   // files that are kept open for sequences to come
constexpr int64_t kMostKept = int64_t(256) << 20;  // bytes of pictures that their decoders hold
constexpr int64_t kPictures = 8;                   // that a decoder holds

class ReadVideo : public SequenceSource, public GpuOperator {
 public:
  static constexpr Count kOutputs{1, 4};

  explicit ReadVideo(const Spec& s)
      : names_(s.table("names", DType::u8)), indexes_(s.table("indexes", DType::u8)),
        index_starts_(s.table("index_starts", DType::i64)), videos_(s.table("videos", DType::i32)),
        firsts_(s.table("firsts", DType::i64)), begins_(s.table("begins", DType::i64)),
        ends_(s.table("ends", DType::i64)), labels_(s.table("labels", DType::i32)),
        length_(s.integer("sequence_length")), stride_(s.integer("stride")), uniform_(s.flag("uniform_sample")),
        frame_numbers_(s.string("frame_numbers")), timestamps_(s.flag("enable_timestamps")),
        pad_(pad_mode_of(s.string("pad_mode"))), clips_(s, check()) {}

  std::unique_ptr<State> make_state() const override { return clips_.make_state(); }

  void setup(const Context& c) const override {
    const int64_t sample = number(c);
    const int64_t video = videos_.as<int32_t>()[sample];
    for (int k = 0; k < c.num_outputs; k++) c.out(k).source = names_[video];
    clips_.describe(index(video), count(sample), c.out(0));
    int at = 1;
    const auto describe = [&](DType type, int64_t n) {
      Tensor& out = c.out(at++);
      out.dtype = type;
      out.shape = {n};
      out.layout = {};
    };
    if (labels_) describe(DType::i32, 1);
    if (!frame_numbers_.empty()) describe(DType::i32, frame_numbers_ == "sequence" ? count(sample) : 1);
    if (timestamps_) describe(DType::f64, count(sample));
  }

  void produce(const Context& c, Frames& clip) const override {
    with_order(c, [&](const ClipOrder& order) {
      write_others(c, order, c.outputs + 1);
      if (order.count) clips_.write(order, clip, *c.state);
    });
  }

  // All is done by the worker threads, each of which drives a decoder of the GPU's.
  void record(gpu::Recorder&) const override {}
  bool has_host_part() const override { return true; }
  void run_host(const Context& c) const override {
    with_order(c, [&](const ClipOrder& order) {
      std::array<Tensor, kOutputs.most> others;
      std::array<Tensor*, kOutputs.most> at;
      std::array<std::vector<uint8_t>, kOutputs.most> memory;
      for (int k = 1; k < c.num_outputs; k++) {
        const auto i = size_t(k - 1);
        others[i] = c.out(k);
        memory[i].resize(others[i].bytes());
        others[i].data = memory[i].data();
        at[i] = &others[i];
      }
      write_others(c, order, at.data());
      for (int k = 1; k < c.num_outputs; k++) clips_.upload(others[size_t(k - 1)].data, c.out(k), *c.state);
      clips_.write_on_gpu(order, c.out(0), *c.state);
    });
  }
  const gpu::DecodeCounts* decode_counts() const override { return clips_.counts(); }

 private:
  size_t check() const {
    const int64_t n = names_.size();
    check_table(indexes_ && index_starts_ && index_starts_.rows() == n + 1, "there is no index for each video");
    check_starts(index_starts_, n, indexes_.rows());
    int64_t largest = 1;
    for (int64_t v = 0; v < n; v++) {
      const int64_t begin = index_starts_.as<int64_t>()[v], bytes = index_starts_.as<int64_t>()[v + 1] - begin;
      check_table(begin % 8 == 0 && VideoIndex::is_sound(indexes_.as<uint8_t>() + begin, size_t(bytes)),
                  "a video's is broken");
      const VideoHead& h = index(v).head();
      largest = std::max(largest, int64_t(h.width) * h.height * 3 / 2);
      storage_of(names_[v]);
    }
    const int64_t samples = videos_.rows();
    check_table(firsts_.rows() == samples && begins_.rows() == samples && ends_.rows() == samples &&
                    (!labels_ || labels_.rows() == samples), "sequences are incomplete");
    for (int64_t i = 0; i < samples; i++) {
      const int32_t v = videos_.as<int32_t>()[i];
      check_table(v >= 0 && v < n, "a sequence is of no video");
      const int64_t begin = begins_.as<int64_t>()[i], end = ends_.as<int64_t>()[i], first = firsts_.as<int64_t>()[i];
      check_table(0 <= begin && begin < end && end <= index(v).frames() && begin <= first && first < end,
                  "a sequence has frames that its video has not");
    }
    return size_t(std::clamp<int64_t>(kMostKept / (largest * kPictures), 2, int64_t(kMostOpen)));
  }

  int64_t number(const Context& c) const {
    const int64_t i = element_i64(c.in(0), 0);
    if (i < 0 || i >= videos_.rows())
      fail(ErrorKind::argument, "there is no sequence " + std::to_string(i) + ": there are " +
           std::to_string(videos_.rows()));
    return i;
  }
  VideoIndex index(int64_t video) const {
    return VideoIndex(indexes_.as<uint8_t>() + index_starts_.as<int64_t>()[video]);
  }

  // Frames of a sequence: with no padding, those that are there.
  int64_t count(int64_t sample) const {
    if (uniform_ || pad_ != PadMode::none) return length_;
    return std::min(length_, (ends_.as<int64_t>()[sample] - firsts_.as<int64_t>()[sample] - 1) / stride_ + 1);
  }
  int64_t frame(int64_t sample, int64_t i) const {
    const int64_t begin = begins_.as<int64_t>()[sample], end = ends_.as<int64_t>()[sample];
    if (uniform_)                                  // from the first to the last, rounded
      return length_ == 1 ? begin : begin + (2 * i * (end - begin - 1) + length_ - 1) / (2 * (length_ - 1));
    // What is reflected may lie before the part, as in DALI.
    return padded_frame(firsts_.as<int64_t>()[sample] + i * stride_, 0, end, pad_);
  }

  template <class F> void with_order(const Context& c, F f) const {
    const int64_t sample = number(c);
    const int64_t video = videos_.as<int32_t>()[sample];
    const VideoIndex known = index(video);
    std::vector<int64_t> frames(static_cast<size_t>(count(sample)));
    for (size_t i = 0; i < frames.size(); i++) frames[i] = frame(sample, int64_t(i));
    f(ClipOrder{video, known, frames.data(), int64_t(frames.size()),
                [&] { return std::make_unique<VideoBytes>(open_file(names_[video])); }});
  }

  // The outputs behind the first one, in the host's memory.
  void write_others(const Context& c, const ClipOrder& order, Tensor* const* to) const {
    if (labels_) *(*to++)->as<int32_t>() = labels_.as<int32_t>()[number(c)];
    if (!frame_numbers_.empty()) {
      Tensor& out = **to++;
      std::copy_n(order.frames, out.shape[0], out.as<int32_t>());
    }
    if (timestamps_)
      std::transform(order.frames, order.frames + order.count, (*to)->as<double>(),
                     [&](int64_t f) { return f == kFilled ? -1.0 : order.index.seconds(f); });
  }

  Names names_;
  Table indexes_, index_starts_;                   // of each video
  Table videos_, firsts_, begins_, ends_;          // of each sequence: its first frame, and those that it may have
  Table labels_;
  int64_t length_, stride_;
  bool uniform_;
  std::string frame_numbers_;                      // "": none, "scalar": the first one, "sequence": all
  bool timestamps_;
  PadMode pad_;
  Clips clips_;                                    // goes first: files know their names by names_
};

PS_OPERATOR("read_video", ReadVideo)

}  // namespace
}  // namespace ps
