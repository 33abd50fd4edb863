#include "ops/decode/clip.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <string>

#include "decode/jpeg/color.h"
#include "rows/memory_rows.h"

namespace ps {
namespace {

constexpr int kChannels = 3;
constexpr int kExif[4] = {1, 6, 3, 8};        // orientations that quarter turns are

}  // namespace

struct ClipWriter::Rows : State {
  FrameColors colors;
  Orienter orienter;
  std::vector<uint8_t> row, frame;
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

void ClipWriter::write(Video& video, const VideoIndex& index, const int64_t* frames, int64_t count, Tensor& out,
                       State& state) const {
  Rows& rows = static_cast<Rows&>(state);
  const int64_t values = out.shape[1] * out.shape[2] * out.shape[3];
  const size_t bytes = size_t(values) * size_of(dtype_);
  const auto place = [&](int64_t i) { return out.as<uint8_t>() + size_t(i) * bytes; };
  rows.order.resize(size_t(count));
  std::iota(rows.order.begin(), rows.order.end(), 0);
  std::stable_sort(rows.order.begin(), rows.order.end(), [&](int64_t a, int64_t b) { return frames[a] < frames[b]; });
  rows.frames.clear();
  auto at = rows.order.begin();
  for (; at != rows.order.end() && frames[*at] == kFilled; ++at) fill(place(*at), values / kChannels);
  for (auto i = at; i != rows.order.end(); ++i)
    if (rows.frames.empty() || rows.frames.back() != frames[*i]) rows.frames.push_back(frames[*i]);
  if (rows.frames.empty()) return;
  video.decode(rows.frames.data(), int64_t(rows.frames.size()), [&](int64_t frame, const psv_picture& picture) {
    uint8_t* first = place(*at);
    convert(index, picture, first, rows);
    for (++at; at != rows.order.end() && frames[*at] == frame; ++at) std::memcpy(place(*at), first, bytes);
  });
}

// Whole numbers stay as they are in other types; `normalized` brings them to 0 .. 1.
static void store_row(const uint8_t* from, int64_t values, bool normalized, float* to) {
  const float scale = normalized ? 1.0f / 255 : 1.0f;
  for (int64_t i = 0; i < values; i++) to[i] = float(from[i]) * scale;
}

void ClipWriter::convert(const VideoIndex& index, const psv_picture& picture, uint8_t* to, Rows& rows) const {
  const int64_t width = picture.width, height = picture.height;
  const auto stated = psv_matrix(picture.matrix);
  rows.colors.begin(picture, matrix_ == PSV_UNKNOWN ? stated : matrix_);
  const Orientation turn(upright_ ? kExif[index.head().quarter_turns & 3] : 1);
  const auto row_values = width * kChannels;
  const bool is_float = dtype_ == DType::f32;
  if (turn.upright()) {
    rows.row.resize(size_t(row_values));
    for (int64_t y = 0; y < height; y++) {
      uint8_t* row = is_float ? rows.row.data() : to + y * row_values;
      rows.colors.row(y, 0, width, row);
      if (to_ycbcr_) jpeg::rgb_to_studio_ycc(row, int(width));
      if (is_float) store_row(row, row_values, normalized_, reinterpret_cast<float*>(to) + y * row_values);
    }
    return;
  }
  RowFormat stored;
  stored.width = width, stored.height = height, stored.channels = kChannels;
  RowFormat shown = stored;
  if (turn.swap) std::swap(shown.width, shown.height);
  rows.orienter.begin({0, 0, width, height}, stored);
  for (int64_t y = 0; y < height; y++) {
    auto* row = static_cast<uint8_t*>(rows.orienter.place(y));
    rows.colors.row(y, 0, width, row);
    if (to_ycbcr_) jpeg::rgb_to_studio_ycc(row, int(width));
    rows.orienter.push(y, row);
  }
  const int64_t values = row_values * height;
  if (is_float) rows.frame.resize(size_t(values));
  MemorySink sink(is_float ? rows.frame.data() : to, shown);
  rows.orienter.finish(turn, sink.window(), sink);
  if (is_float) store_row(rows.frame.data(), values, normalized_, reinterpret_cast<float*>(to));
}

void ClipWriter::fill(uint8_t* to, int64_t pixels) const {
  const float scale = normalized_ ? 1.0f / 255 : 1.0f;
  for (int64_t i = 0; i < pixels * kChannels; i++) {
    const uint8_t v = fill_[size_t(i % kChannels)];
    if (dtype_ == DType::f32) reinterpret_cast<float*>(to)[i] = float(v) * scale;
    else to[i] = v;
  }
}

}  // namespace ps
