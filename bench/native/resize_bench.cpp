// The resize stage against a plain loop and a common two-pass scheme, on a training crop: 360 x 270 RGB to 224 x 224,
// linear, antialiased. Rounds alternate between the contenders; medians are shown.
//   resize_bench [width height out_width out_height]
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "ops/geometry/resize/stage.h"
#include "rows/memory_rows.h"

using namespace ps;

namespace {

struct Picture {
  int64_t width, height;
  std::vector<uint8_t> at;
  Picture(int64_t w, int64_t h) : width(w), height(h), at(size_t(w * h * 3)) {}
};

// Every output pixel from all of its input pixels.
void plain(const Picture& in, const Taps& tx, const Taps& ty, Picture& out) {
  for (int64_t y = 0; y < out.height; y++)
    for (int64_t x = 0; x < out.width; x++)
      for (int c = 0; c < 3; c++) {
        float sum = 0;
        for (int j = 0; j < ty.n[size_t(y)]; j++)
          for (int i = 0; i < tx.n[size_t(x)]; i++)
            sum += ty.weight[size_t(y * ty.count + j)] * tx.weight[size_t(x * tx.count + i)] *
                   in.at[size_t(((ty.first[size_t(y)] + j) * in.width + tx.first[size_t(x)] + i) * 3 + c)];
        out.at[size_t((y * out.width + x) * 3 + c)] = uint8_t(std::nearbyint(sum));
      }
}

// The whole picture horizontally to floats, then all of it vertically.
void two_pass(const Picture& in, const Taps& tx, const Taps& ty, std::vector<float>& between, Picture& out) {
  between.resize(size_t(in.height * out.width * 3));
  for (int64_t y = 0; y < in.height; y++)
    for (int64_t x = 0; x < out.width; x++) {
      float sum[3] = {};
      for (int i = 0; i < tx.n[size_t(x)]; i++)
        for (int c = 0; c < 3; c++)
          sum[c] += tx.weight[size_t(x * tx.count + i)] *
                    in.at[size_t((y * in.width + tx.first[size_t(x)] + i) * 3 + c)];
      std::copy_n(sum, 3, &between[size_t((y * out.width + x) * 3)]);
    }
  const int64_t row = out.width * 3;
  std::vector<float> sum(static_cast<size_t>(row));
  for (int64_t y = 0; y < out.height; y++) {
    std::fill(sum.begin(), sum.end(), 0.0f);
    for (int j = 0; j < ty.n[size_t(y)]; j++) {
      const float w = ty.weight[size_t(y * ty.count + j)], *from = &between[size_t((ty.first[size_t(y)] + j) * row)];
      for (int64_t i = 0; i < row; i++) sum[size_t(i)] += w * from[i];
    }
    for (int64_t i = 0; i < row; i++) out.at[size_t(y * row + i)] = uint8_t(std::nearbyint(sum[size_t(i)]));
  }
}

}  // namespace

int main(int argc, char** argv) {
  const auto size = [&](int i, int64_t fallback) { return argc > i ? std::atoll(argv[i]) : fallback; };
  Picture in(size(1, 360), size(2, 270)), out(size(3, 224), size(4, 224));
  std::mt19937 random(1);
  for (auto& v : in.at) v = uint8_t(random());

  ResizeParams params{{in.width, out.width, 0, float(in.width)}, {in.height, out.height, 0, float(in.height)}};
  Taps tx, ty;
  tx.build(params.x), ty.build(params.y);
  const RowFormat format{in.width, in.height, 3, DType::u8}, result{out.width, out.height, 3, DType::u8};
  MemorySink sink(out.at.data(), result);
  const auto resize = [&](Interp filter, bool from_rows, bool fresh) {
    static ResizeStage stage;
    if (fresh) {   // another region each time, as random crops have: the tables are made anew
      static float shift = 0;
      shift = shift > 0.5f ? 0 : shift + 0.01f;
      params.x.lo = params.y.lo = shift;
    } else {
      params.x.lo = params.y.lo = 0;
    }
    params.x.filter = params.y.filter = filter;
    stage.begin(params, format, DType::u8);
    stage.next = &sink;
    const Window needed = stage.demand(sink.window());
    if (from_rows) push_rows(in.at.data(), format, needed, stage);
    else stage.resample(in.at.data(), in.width * 3);
  };

  std::vector<float> between;
  struct Contender {
    const char* name;
    std::function<void()> run;
    std::vector<double> ms;
  };
  std::vector<Contender> contenders = {
      {"stage, from rows, new tables", [&] { resize(Interp::linear, true, true); }, {}},
      {"stage, from rows", [&] { resize(Interp::linear, true, false); }, {}},
      {"stage, from memory", [&] { resize(Interp::linear, false, false); }, {}},
      {"stage, cubic (float)", [&] { resize(Interp::cubic, false, false); }, {}},
      {"two passes in float", [&] { two_pass(in, tx, ty, between, out); }, {}},
      {"plain loop", [&] { plain(in, tx, ty, out); }, {}},
  };
  for (int round = 0; round < 60; round++)
    for (auto& c : contenders) {
      const int repeat = c.run.target_type() == contenders.back().run.target_type() ? 1 : 5;
      const auto start = std::chrono::steady_clock::now();
      for (int i = 0; i < repeat; i++) c.run();
      const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
      c.ms.push_back(took.count() / repeat);
    }
  const auto median = [](std::vector<double>& v) { std::sort(v.begin(), v.end()); return v[v.size() / 2]; };
  const double first = median(contenders[1].ms);
  std::printf("%lld x %lld RGB to %lld x %lld\n", (long long)in.width, (long long)in.height, (long long)out.width,
              (long long)out.height);
  for (auto& c : contenders) std::printf("%-30s %8.4f ms  x%.2f\n", c.name, median(c.ms), median(c.ms) / first);
}
