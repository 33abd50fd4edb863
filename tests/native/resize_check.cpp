// Checks the resize stage on random pictures, regions and filters: against sums in double precision; any window of the
// result against the whole; rows one by one against a picture in memory. Pictures are exactly as large as they
// say, so that a sanitizer sees each byte too far.
//
//   resize_check [--cases N] [--seed N]     exit status 0: all is well (other arguments are ignored)
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <vector>

#include "ops/geometry/resize/stage.h"
#include "rows/memory_rows.h"

using namespace ps;

namespace {

std::mt19937 random_bits;
int64_t uniform(int64_t low, int64_t high) { return std::uniform_int_distribution<int64_t>(low, high)(random_bits); }
float real(double low, double high) { return float(std::uniform_real_distribution<double>(low, high)(random_bits)); }

[[noreturn]] void give_up(const char* why) {
  std::puts(why);
  std::exit(1);
}

struct Picture {
  RowFormat format;
  std::vector<uint8_t> bytes;
  explicit Picture(const RowFormat& f) : format(f), bytes(f.pixel_bytes() * size_t(f.width * f.height)) {}
  double at(int64_t y, int64_t x, int c) const {
    const size_t i = size_t((y * format.width + x) * format.channels + c);
    switch (format.dtype) {
      case DType::u8: return bytes[i];
      case DType::i16: return reinterpret_cast<const int16_t*>(bytes.data())[i];
      case DType::u16: return reinterpret_cast<const uint16_t*>(bytes.data())[i];
      default: return double(reinterpret_cast<const float*>(bytes.data())[i]);
    }
  }
};

// Stores a window of the stage's output, and checks that rows come as promised.
struct WindowSink : RowSink {
  Picture picture;
  Window window;
  int64_t expected;
  bool offers;
  WindowSink(const RowFormat& whole, const Window& w, bool offer)
      : picture({w.width(), w.height(), whole.channels, whole.dtype}), window(w), expected(w.y0), offers(offer) {}
  uint8_t* row(int64_t y) {
    return picture.bytes.data() + size_t((y - window.y0) * window.width()) * picture.format.pixel_bytes();
  }
  void* place(int64_t y) override { return offers ? row(y) : nullptr; }
  void push(int64_t y, const void* from) override {
    if (y != expected++) give_up("a row came out of order");
    if (from != row(y)) std::memcpy(row(y), from, picture.format.pixel_bytes() * size_t(window.width()));
  }
};

Picture run(ResizeStage& stage, const Picture& in, const ResizeParams& params, DType out, const Window& window,
            bool rows) {
  stage.begin(params, in.format, out);
  WindowSink sink(stage.out, window, uniform(0, 1));
  stage.next = &sink;
  const Window needed = stage.demand(window);
  if (needed.x0 < 0 || needed.y0 < 0 || needed.x1 > in.format.width || needed.y1 > in.format.height)
    give_up("the stage asks for what is not there");
  const size_t stride = in.format.pixel_bytes() * size_t(in.format.width);
  if (!rows) {
    stage.resample(in.bytes.data(), int64_t(stride));
  } else {   // rows in memory of their own, of just the window, with the room behind them that is promised
    const size_t bytes = in.format.pixel_bytes() * size_t(needed.width());
    for (int64_t y = needed.y0; y < needed.y1; y++) {
      const uint8_t* from = in.bytes.data() + size_t(y) * stride + in.format.pixel_bytes() * size_t(needed.x0);
      void* place = stage.place(y);
      std::unique_ptr<uint8_t[]> own(place ? nullptr : new uint8_t[bytes + kRowSlack]);
      void* row = place ? place : own.get();
      std::memcpy(row, from, bytes);
      stage.push(y, row);
    }
  }
  if (sink.expected != window.y1) give_up("rows are missing");
  return std::move(sink.picture);
}

// Share of values that are not the exact sum's, and the largest distance to it (relative to `range`, for floats).
void against_sums(const Picture& in, const Picture& out, const ResizeParams& params, double range, double& share,
                  double& apart) {
  Taps x, y;
  x.build(params.x), y.build(params.y);
  int64_t wrong = 0, all = 0;
  apart = 0;
  for (int64_t j = 0; j < out.format.height; j++)
    for (int64_t i = 0; i < out.format.width; i++)
      for (int c = 0; c < out.format.channels; c++, all++) {
        double sum = 0;
        for (int n = 0; n < y.n[size_t(j)]; n++)
          for (int m = 0; m < x.n[size_t(i)]; m++)
            sum += double(y.weight[size_t(j * y.count + n)]) * double(x.weight[size_t(i * x.count + m)]) *
                   in.at(y.first[size_t(j)] + n, x.first[size_t(i)] + m, c);
        if (out.format.dtype == DType::f32) {
          apart = std::max(apart, std::abs(sum - out.at(j, i, c)) / range);
          continue;
        }
        const double low = out.format.dtype == DType::i16 ? -32768 : 0, high = low < 0 ? 32767 : range;
        const double distance = std::abs(std::nearbyint(std::clamp(sum, low, high)) - out.at(j, i, c));
        wrong += distance != 0;
        apart = std::max(apart, distance);
      }
  share = double(wrong) / double(all);
}

Picture random_picture(DType type, int channels, double& range) {
  RowFormat format{uniform(1, uniform(0, 3) ? 150 : 600), uniform(1, 150), channels, type};
  Picture p(format);
  const size_t n = p.bytes.size() / size_of(type);
  range = type == DType::u8 ? 255 : type == DType::f32 ? 2 : 65535;
  for (size_t i = 0; i < n; i++) {
    if (type == DType::f32) reinterpret_cast<float*>(p.bytes.data())[i] = real(-1, 1);
    else if (type == DType::u8) p.bytes[i] = uint8_t(uniform(0, 255));
    else reinterpret_cast<uint16_t*>(p.bytes.data())[i] = uint16_t(uniform(0, 65535));
  }
  return p;
}

ResampleAxis random_axis(int64_t in) {
  ResampleAxis a;
  a.in = in;
  a.out = uniform(0, 9) ? uniform(1, 140) : uniform(1, 3);
  a.lo = 0, a.hi = float(in);
  if (uniform(0, 1)) a.lo = real(-0.3, 0.6) * float(in), a.hi = real(0.4, 1.3) * float(in);
  if (uniform(0, 30) == 0) a.lo += 3 * float(in), a.hi += 4 * float(in);
  if (std::abs(a.hi - a.lo) < 1e-3f) a.hi = a.lo + 1;
  a.filter = uniform(0, 1) ? Interp::linear : Interp(uniform(0, 5));
  a.antialias = uniform(0, 3) != 0;
  return a;
}

}  // namespace

int main(int argc, char** argv) {
  int cases = 400, seed = 1;
  for (int i = 1; i + 1 < argc; i++) {
    if (!std::strcmp(argv[i], "--cases")) cases = std::atoi(argv[i + 1]);
    if (!std::strcmp(argv[i], "--seed")) seed = std::atoi(argv[i + 1]);
  }
  random_bits.seed(unsigned(seed));
  ResizeStage stage, other;   // one of them is used for everything, so nothing of the last picture may be left over
  double shares = 0;
  int counted = 0;
  for (int n = 0; n < cases; n++) {
    const DType types[] = {DType::u8, DType::u8, DType::u8, DType::i16, DType::u16, DType::f32};
    double range, share = 0, apart;
    const Picture in = random_picture(types[uniform(0, 5)], int(uniform(1, 5)), range);
    ResizeParams params{random_axis(in.format.width), random_axis(in.format.height)};
    const DType out_type = uniform(0, 3) ? in.format.dtype : DType::f32;
    const Window all{0, 0, params.x.out, params.y.out};
    const Picture whole = run(stage, in, params, out_type, all, false);
    against_sums(in, whole, params, range, share, apart);
    const auto complain = [&](const char* what) {
      const auto show = [](const char* name, const ResampleAxis& a) {
        std::printf("  %s: %lld to %lld, region %g..%g, filter %d%s\n", name, (long long)a.in, (long long)a.out,
                    double(a.lo), double(a.hi), int(a.filter), a.antialias ? "" : ", not antialiased");
      };
      std::printf("case %d: %s; %g of the values, by up to %g\n", n, what, share, apart);
      std::printf("  types: %d to %d, %d channels\n", int(in.format.dtype), int(out_type), in.format.channels);
      show("width", params.x), show("height", params.y);
      return 1;
    };
    if (apart > (out_type == DType::f32 ? 1e-5 : 1)) return complain("far from the exact sums");
    if (out_type == DType::u8 && whole.bytes.size() > 3000) shares += share, counted++;
    for (int k = 0; k < 3; k++) {
      Window part = all;
      if (k > 0) {
        part.x0 = uniform(0, all.x1 - 1), part.x1 = uniform(part.x0 + 1, all.x1);
        part.y0 = uniform(0, all.y1 - 1), part.y1 = uniform(part.y0 + 1, all.y1);
      }
      stage.begin(params, in.format, out_type);
      const bool rows = stage.takes_rows() && uniform(0, 3);
      const Picture cut = run(k == 1 ? other : stage, in, params, out_type, part, rows);
      const size_t pixel = whole.format.pixel_bytes(), bytes = pixel * size_t(part.width());
      for (int64_t y = part.y0; y < part.y1; y++)
        if (std::memcmp(cut.bytes.data() + size_t(y - part.y0) * bytes,
                        whole.bytes.data() + size_t(y * all.x1 + part.x0) * pixel, bytes))
          return complain(rows ? "a window from rows differs" : "a window from memory differs");
    }
  }
  const double mean = shares / std::max(1, counted);
  std::printf("%d cases; of uint8, %.4f %% are rounded otherwise than the exact sums\n", cases, 100 * mean);
  return counted > 20 && mean > 0.002;
}
