// Fused kernels that begin with a picture's planes (penstock/device/jpeg/decoded.h), beside the same ones that begin
// with its pixels. For jpeg_kernels_check.cpp, whose Run runs kernels.
#pragma once

#include "device/geometry/resize.h"
#include "device/jpeg/decoded.h"
#include "device/picture/window.h"
#include "jpeg_files.h"
#include "ops/geometry/resize/gpu.h"

namespace {

// A stage between a picture and an interleaved one of bytes.
template <class Stage> struct FusedJob {
  ps::device::PictureJob head;
  alignas(16) Stage stage;
};
static_assert(sizeof(ps::device::PictureJob) % 16 == 0 || alignof(FusedJob<ps::device::ResampleFields>) == 16);

template <class Stage> FusedJob<Stage> fused_job(const void* in, Bytes& out, int width, int height, int channels) {
  out.assign(size_t(width) * size_t(height) * size_t(channels), 0);
  FusedJob<Stage> job{};
  job.head.in = in, job.head.out = out.data();
  job.head.out_stride = {channels, width * channels, 1, 0};
  job.head.width = width, job.head.height = height, job.head.channels = channels, job.head.frames = 1;
  job.head.step = 8 << uniform(0, 2);
  return job;
}

// The pixels, beginning anywhere, and words around them that kernels may read: memory pools give more than that.
class Pixels {
 public:
  explicit Pixels(const ps::device::JpegPicture& p) : bytes_(4, 0), shift_(size_t(uniform(0, 3))) {
    bytes_.resize(4 + shift_);
    bytes_.insert(bytes_.end(), p.out, p.out + int64_t(p.width) * p.height * p.channels);
    bytes_.resize(bytes_.size() + ps::kRowSlack);
  }
  const uint8_t* data() const { return bytes_.data() + 4 + shift_; }

 private:
  Bytes bytes_;
  size_t shift_;
};

inline int tiles(int width, int height, int tile_width) {
  return (width + tile_width - 1) / tile_width * ((height + ps::device::kTile - 1) / ps::device::kTile);
}

// Windows, mirrored perhaps, of a picture that is a part of a larger one.
template <int N, class Run> bool check_fused_window(Run& run) {
  using Stage = ps::device::WindowStage<uint8_t>;
  const auto& p = run.p;
  const int x = uniform(0, 40), y = uniform(0, 40), width = uniform(1, p.width), height = uniform(1, p.height);
  const int from_x = uniform(0, p.width - width), from_y = uniform(0, p.height - height);
  const bool back_x = uniform(0, 1), back_y = uniform(0, 1);
  const Pixels pixels(p);
  for (const bool planes : {true, false}) {
    const ps::device::DecodedView view{planes ? &p : nullptr, pixels.data(), x, y, p.width, p.height};
    Bytes out;
    auto job = fused_job<Stage>(&view, out, width, height, N);
    job.stage = {x + from_x + (back_x ? width - 1 : 0), y + from_y + (back_y ? height - 1 : 0), back_x ? -1 : 1,
                 back_y ? -1 : 1};
    const auto bytes = ps::device::staged_bytes(ps::device::kDecodedWidth, job.head.step, N, p.swap);
    if (!run.run_fused(ps::device::run_decoded<uint8_t, N, ps::device::kDecodedWidth, Stage>,
                   tiles(width, height, ps::device::kDecodedWidth), &job, bytes))
      return false;
    for (int v = 0; v < height; v++)
      for (int u = 0; u < width; u++) {
        const int column = from_x + (back_x ? width - 1 - u : u), row = from_y + (back_y ? height - 1 - v : v);
        for (int c = 0; c < N; c++)
          if (out[size_t((v * width + u) * N + c)] != p.out[(int64_t(row) * p.width + column) * N + c]) return false;
      }
  }
  return true;
}

template <int N, class Run> bool check_fused_resample(Run& run) {
  using Stage = ps::device::TiledResample<uint8_t, uint8_t>;
  const auto& p = run.p;
  const auto axis = [](int in) {
    const ps::Interp filters[] = {ps::Interp::linear, ps::Interp::linear, ps::Interp::cubic, ps::Interp::nearest};
    const auto a = float(uniform(0, in)), b = float(uniform(0, in));
    return ps::ResampleAxis{in, uniform(1, 100), a, a == b ? a + 0.5f : b, filters[uniform(0, 3)], true};
  };
  const ps::ResampleAxis across = axis(p.width), down = axis(p.height);
  const ps::device::ResampleFields fields = ps::resample_fields(down, across, N, true);
  const auto reach = [](const ps::device::ResampledAxis& a, int pixels) {
    return int(std::min(std::ceil(double(pixels - 1) * std::abs(double(a.scale))) + a.window + 1, double(a.in)));
  };
  const int width = int(across.out), height = int(down.out), blocks = tiles(width, height, ps::device::kTile);
  const ps::device::DecodedView view{&p, nullptr, 0, 0, p.width, p.height};
  Bytes ours, expected;
  auto job = fused_job<Stage>(&view, ours, width, height, N);
  static_cast<ps::device::ResampleFields&>(job.stage) = fields;
  const int columns = reach(fields.x, ps::device::kTile);
  const auto own = (ps::device::resample_bytes(fields, columns, job.head.step) + 15) / 16 * 16;
  const auto bytes = own + ps::device::staged_bytes(columns, reach(fields.y, job.head.step), N, p.swap);
  if (bytes > Run::kShared) return true;                         // so little is left of it that it would not fit
  job.head.staged = int(own);
  if (!run.run_fused(ps::device::run_decoded<uint8_t, N, ps::device::kTile, Stage>, blocks, &job, bytes)) return false;
  const Pixels pixels(p);
  auto plain = fused_job<Stage>(pixels.data(), expected, width, height, N);
  static_cast<ps::device::ResampleFields&>(plain.stage) = fields;
  plain.head.step = job.head.step;
  plain.head.in_stride = {N, p.width * N, 1, 0};
  run.run_fused(ps::device::run_tiles<uint8_t, uint8_t, N, true, Stage>, blocks, &plain, own);
  return ours == expected;
}

template <class Run> bool check_fused(Run& run) {
  if (run.p.channels == 1) return check_fused_window<1>(run) && check_fused_resample<1>(run);
  return check_fused_window<3>(run) && check_fused_resample<3>(run);
}

}  // namespace
