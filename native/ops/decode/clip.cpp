#include "ops/decode/clip.h"

#include <algorithm>
#include <numeric>
#include <string>

#include "decode/jpeg/color.h"

namespace ps {
namespace {

constexpr int kChannels = 3;
constexpr int kExif[4] = {1, 6, 3, 8};        // orientations that quarter turns are

// Rows of whole numbers as those of floats; `normalized` brings them to 0 .. 1.
class FloatRows : public RowSink {
 public:
  void begin(RowSink& sink, int64_t values, bool normalized) {
    sink_ = &sink, values_ = values, scale_ = normalized ? 1.0f / 255 : 1.0f;
  }
  void push(int64_t y, const void* row) override {
    auto* to = static_cast<float*>(sink_->place(y));
    if (!to) {
      row_.resize(size_t(values_) + kRowSlack);
      to = row_.data();
    }
    const auto* from = static_cast<const uint8_t*>(row);
    for (int64_t i = 0; i < values_; i++) to[i] = float(from[i]) * scale_;
    sink_->push(y, to);
  }

 private:
  RowSink* sink_ = nullptr;
  int64_t values_ = 0;
  float scale_ = 1;
  std::vector<float> row_;
};

}  // namespace

struct ClipWriter::Rows : State {
  FrameColors colors;
  Orienter orienter;
  FloatRows floats;
  std::vector<uint8_t> row;                   // where a row has no place yet
  std::vector<int64_t> order;                 // places in the output, by frame
  std::vector<int64_t> frames;                // those that are decoded
};

PadMode pad_mode_of(std::string_view name) {
  if (name == "none") return PadMode::none;
  if (name == "constant") return PadMode::constant;
  if (name == "edge" || name == "repeat") return PadMode::edge;
  if (name == "reflect_1001" || name == "symmetric") return PadMode::reflect_1001;
  if (name == "reflect_101" || name == "reflect") return PadMode::reflect_101;
  fail(ErrorKind::argument, "pad_mode is '" + std::string(name) + "': expected 'none', 'constant', 'edge' ('repeat'), "
       "'reflect_1001' ('symmetric') or 'reflect_101' ('reflect')");
}

int64_t padded_frame(int64_t at, int64_t begin, int64_t end, PadMode mode) {
  const int64_t n = end - begin;
  if (at >= begin && at < end) return at;
  int64_t i = at - begin;
  switch (mode) {
    case PadMode::constant: return kFilled;
    case PadMode::edge: return at < begin ? begin : end - 1;
    case PadMode::reflect_1001: {
      i = ((i % (2 * n)) + 2 * n) % (2 * n);
      return begin + (i < n ? i : 2 * n - 1 - i);
    }
    case PadMode::reflect_101: {
      if (n == 1) return begin;
      const int64_t period = 2 * n - 2;
      i = ((i % period) + period) % period;
      return begin + (i < n ? i : period - i);
    }
    case PadMode::none: break;
  }
  fail(ErrorKind::argument, "frame " + std::to_string(at) + " is asked for, and there are frames " +
       std::to_string(begin) + " to " + std::to_string(end - 1) + ": pad_mode says what stands for others");
}

ClipWriter::ClipWriter(const Spec& s)
    : upright_(s.flag("adjust_orientation")), to_ycbcr_(s.integer("image_type") == PS_IMAGE_TYPE_YCBCR),
      normalized_(s.flag("normalized")), dtype_(s.dtype("dtype")) {
  const std::string matrix = s.string("color_matrix");
  matrix_ = matrix == "bt601" ? PSV_BT601 : matrix == "bt709" ? PSV_BT709 : matrix == "bt2020" ? PSV_BT2020
                                                                                                : PSV_UNKNOWN;
  for (const int64_t v : s.get("fill_value").integers) fill_.push_back(uint8_t(v));
  if (fill_.size() == 1) fill_.resize(kChannels, fill_[0]);
}

std::unique_ptr<State> ClipWriter::make_state() const { return std::make_unique<Rows>(); }

void ClipWriter::describe(const VideoIndex& index, int64_t count, Tensor& out) const {
  const VideoHead& h = index.head();
  const bool turned = upright_ && h.quarter_turns % 2;
  out.dtype = dtype_;
  out.shape = {count, turned ? h.width : h.height, turned ? h.height : h.width, kChannels};
  out.layout = "FHWC";
  check_sound(out);
}

void ClipWriter::write(Video& video, const VideoIndex& index, const int64_t* frames, int64_t count,
                       SequenceSource::Frames& out, State& state) const {
  Rows& rows = static_cast<Rows&>(state);
  rows.order.resize(size_t(count));
  std::iota(rows.order.begin(), rows.order.end(), 0);
  std::stable_sort(rows.order.begin(), rows.order.end(), [&](int64_t a, int64_t b) { return frames[a] < frames[b]; });
  rows.frames.clear();
  auto at = rows.order.begin();
  // Where the next frame in this order goes.
  const auto each = [&](const auto& make) {
    Window window;
    RowSink& sink = out.begin(*at++, window);
    rows.floats.begin(sink, window.width() * kChannels, normalized_);
    make(window, dtype_ == DType::f32 ? rows.floats : sink);
  };
  while (at != rows.order.end() && frames[*at] == kFilled)
    each([&](const Window& window, RowSink& sink) { fill(window, sink, rows); });
  for (auto i = at; i != rows.order.end(); ++i)
    if (rows.frames.empty() || rows.frames.back() != frames[*i]) rows.frames.push_back(frames[*i]);
  if (rows.frames.empty()) return;
  video.decode(rows.frames.data(), int64_t(rows.frames.size()), [&](int64_t frame, const psv_picture& picture) {
    while (at != rows.order.end() && frames[*at] == frame)
      each([&](const Window& window, RowSink& sink) { convert(index, picture, window, sink, rows); });
  });
}

void ClipWriter::write_filled(Tensor& frame, State& state) const {
  Rows& rows = static_cast<Rows&>(state);
  MemorySink sink(frame.data, picture_format(frame));
  const Window window = sink.window();
  rows.floats.begin(sink, window.width() * kChannels, normalized_);
  fill(window, dtype_ == DType::f32 ? static_cast<RowSink&>(rows.floats) : sink, rows);
}

device::VideoFrame ClipWriter::job(const VideoIndex& index, const psv_coding& coding) const {
  const VideoHead& h = index.head();
  const auto stated = psv_matrix(coding.matrix);
  const ColorFactors f =
      color_factors(coding.depth, coding.full_range, matrix_ == PSV_UNKNOWN ? stated : matrix_);
  device::VideoFrame job{};
  job.width = h.width, job.height = h.height;
  job.depth = coding.depth;
  job.quarter_turns = upright_ ? h.quarter_turns & 3 : 0;
  job.black = f.black, job.luma_factor = f.luma;
  job.red_v = f.red_v, job.green_u = f.green_u, job.green_v = f.green_v, job.blue_u = f.blue_u;
  job.is_float = dtype_ == DType::f32;
  job.scale = normalized_ ? 1.0f / 255 : 1.0f;
  job.ycbcr = to_ycbcr_;
  return job;
}

void ClipWriter::convert(const VideoIndex& index, const psv_picture& picture, const Window& window, RowSink& sink,
                         Rows& rows) const {
  const int64_t width = picture.width, height = picture.height;
  const auto stated = psv_matrix(picture.matrix);
  rows.colors.begin(picture, matrix_ == PSV_UNKNOWN ? stated : matrix_);
  const Orientation turn(upright_ ? kExif[index.head().quarter_turns & 3] : 1);
  const Window stored = turn.upright() ? window : turn.to_stored(window, width, height);
  if (!turn.upright()) rows.orienter.begin(stored, {width, height, kChannels, DType::u8});
  RowSink& to = turn.upright() ? sink : rows.orienter;
  rows.row.resize(size_t(stored.width()) * kChannels + kRowSlack);
  for (int64_t y = stored.y0; y < stored.y1; y++) {
    auto* row = static_cast<uint8_t*>(to.place(y));
    if (!row) row = rows.row.data();
    rows.colors.row(y, stored.x0, stored.x1, row);
    if (to_ycbcr_) jpeg::rgb_to_studio_ycc(row, int(stored.width()));
    to.push(y, row);
  }
  if (!turn.upright()) rows.orienter.finish(turn, window, sink);
}

void ClipWriter::fill(const Window& window, RowSink& sink, Rows& rows) const {
  const auto bytes = size_t(window.width()) * kChannels;
  rows.row.resize(bytes + kRowSlack);
  for (size_t i = 0; i < bytes; i++) rows.row[i] = fill_[i % kChannels];
  for (int64_t y = window.y0; y < window.y1; y++) sink.push(y, rows.row.data());
}

}  // namespace ps
