// Histograms made even, tile by tile.

#include "device/color/clahe.h"

#include <algorithm>
#include <string>
#include <vector>

#include "core/operator.h"
#include "cuda/record/operator.h"
#include "ops/arguments/planes.h"
#include "ops/color/clahe/lab_tables.h"
#include "ops/color/clahe/plane.h"
#include "ops/color/histograms.h"

namespace ps {

class Clahe : public Operator, public GpuOperator {
 public:
  explicit Clahe(const Spec& s)
      : across_(s.integer("tiles_x")), down_(s.integer("tiles_y")), limit_(s.number("clip_limit")),
        luma_only_(s.flag("luma_only")) {}

  void setup(const Context& c) const override {
    const Tensor& in = c.in(0);
    if (in.dtype != DType::u8)
      fail(ErrorKind::type, std::string("the input is ") + name_of(in.dtype) + ": expected UINT8");
    const Planes p = planes_of(in);
    if (p.layout.find('C') >= 0 && p.layout.find('C') < p.layout.find('H'))
      fail(ErrorKind::layout, "expected channels that come last (HW, HWC, FHW, FHWC), got " + shown_layout(in));
    if (p.channels != 1 && p.channels != 3)
      fail(ErrorKind::argument, "expected one channel or three, got the shape " + to_string(in.shape));
    if (p.height > kLongest || p.width > kLongest || p.height * p.width > kLongest)
      fail(ErrorKind::unsupported, "the shape " + to_string(in.shape) + " is too large");
    c.out(0).dtype = DType::u8;
    c.out(0).shape = in.shape;
    c.out(0).layout = p.layout;
  }

  void run(const Context& c) const override {
    const Planes p = planes_of(c.in(0));
    const int64_t n = p.elements();
    if (!c.in(0).bytes()) return;
    const device::ClaheTiles t = tiles(p);
    ThreadState& state = c.st<ThreadState>();
    for (int64_t f = 0; f < p.count; f++) {
      const uint8_t* from = c.in(0).as<uint8_t>() + f * n;
      uint8_t* to = c.out(0).as<uint8_t>() + f * n;
      if (lights(p)) {
        run_light(state, from, to, t);
        continue;
      }
      for (int64_t k = 0; k < p.channels; k++) {
        state.plane.begin(from + k, t, p.channels);
        for (int32_t y = 0; y < t.height; y++) {
          const int64_t at = y * p.width * p.channels + k;
          state.plane.row(from + at, p.channels, y, to + at, p.channels);
        }
      }
    }
  }
  std::unique_ptr<State> make_state() const override { return std::make_unique<ThreadState>(); }

  void record(gpu::Recorder& r) const override {
    struct Memory {
      uint8_t *light = nullptr, *tables = nullptr;
      uint32_t* counts = nullptr;
    };
    const device::LabTables& known = lab_tables();
    const auto* lab = static_cast<const device::LabTables*>(r.constant(&known, sizeof known));
    std::vector<Memory> all;
    for (int i = 0; i < r.size(); i++) {
      const auto n = size_t(histograms(r[i])) * device::kGrays;
      Memory m;
      if (lights(planes_of(r[i].in(0)))) m.light = static_cast<uint8_t*>(r.scratch(r[i].in(0).bytes() / 3));
      m.counts = static_cast<uint32_t*>(r.scratch(n * sizeof(uint32_t)));
      m.tables = static_cast<uint8_t*>(r.scratch(n));
      all.push_back(m);
    }
    if (std::any_of(all.begin(), all.end(), [](const Memory& m) { return m.light != nullptr; }))
      r.elements(PS_FUNCTOR(ClaheLight, "color/clahe.h"), [&](const Context& c, void* to) {
        const Memory& m = all[size_t(c.index)];
        *static_cast<device::ClaheLight*>(to) = {c.in(0).as<uint8_t>(), m.light, lab};
        return m.light ? c.in(0).shape.volume() / 3 : 0;
      });
    record_histograms<device::ClaheCounts>(
        r, "color/clahe.h", PS_LAYOUT_OF(ClaheCounts) + "PS_HISTOGRAM_KERNEL(ClaheCounts)\n",
        [&](const Context& c) { return histograms(c); },
        [&](const Context& c) {
          const Memory& m = all[size_t(c.index)];
          const Planes p = planes_of(c.in(0));
          const device::ClaheTiles t = tiles(p);
          return device::ClaheCounts{m.light ? m.light : c.in(0).as<uint8_t>(), m.counts, t,
                                     m.light ? 1 : int32_t(p.channels), device::Divisor(uint64_t(t.tile_width))};
        });
    r.elements(PS_FUNCTOR(ClaheMakeTables, "color/clahe.h"), [&](const Context& c, void* to) {
      const Memory& m = all[size_t(c.index)];
      if (histograms(c)) *static_cast<device::ClaheMakeTables*>(to) = {m.counts, m.tables, tiles(planes_of(c.in(0)))};
      return histograms(c);
    });
    r.elements(PS_FUNCTOR(ClaheValues, "color/clahe.h"), [&](const Context& c, void* to) {
      const Memory& m = all[size_t(c.index)];
      const Planes p = planes_of(c.in(0));
      if (!histograms(c)) return int64_t(0);
      *static_cast<device::ClaheValues*>(to) = {
          c.in(0).as<uint8_t>(), m.light, m.tables, c.out(0).as<uint8_t>(), lab, tiles(p), int32_t(p.channels),
          device::Divisor(uint64_t(p.width)), device::Divisor(uint64_t(p.height))};
      return p.count * p.height * p.width;
    });
  }

 private:
  static constexpr int64_t kLongest = 1 << 30;       // pixels: their counts are integers
  static constexpr int64_t kChunk = 256;             // pixels at a time

  struct ThreadState : State {
    ClahePlane plane;
    std::vector<uint8_t> lab;
  };

  bool lights(const Planes& p) const { return luma_only_ && p.channels == 3; }
  int64_t histograms(const Context& c) const {
    const Planes p = planes_of(c.in(0));
    return p.elements() ? p.count * (lights(p) ? 1 : p.channels) * across_ * down_ : 0;
  }

  // If one of both extents is not divided evenly, OpenCV adds to the other one, too, as much as a whole row of tiles.
  device::ClaheTiles tiles(const Planes& p) const {
    const bool even = p.width % across_ == 0 && p.height % down_ == 0;
    const int64_t width = (p.width + (even ? 0 : across_ - p.width % across_)) / across_;
    const int64_t height = (p.height + (even ? 0 : down_ - p.height % down_)) / down_;
    const double limit = limit_ * double(width * height) / device::kGrays;
    return {int32_t(p.height), int32_t(p.width), int32_t(across_), int32_t(down_), int32_t(width), int32_t(height),
            limit_ > 0 ? int32_t(std::clamp(limit, 1.0, 2147483647.0)) : 0};
  }

  static void run_light(ThreadState& state, const uint8_t* from, uint8_t* to, const device::ClaheTiles& t) {
    const device::LabTables& lab = lab_tables();
    const int64_t pixels = int64_t(t.height) * t.width;
    state.lab.resize(size_t(3 * pixels + t.width));
    uint8_t *light = state.lab.data(), *a = light + pixels, *b = a + pixels, *row = b + pixels;
    for (int64_t i = 0; i < pixels; i += kChunk) split(lab, from + 3 * i, light + i, a + i, b + i, chunk(pixels - i));
    state.plane.begin(light, t, 1);
    for (int32_t y = 0; y < t.height; y++, light += t.width) {
      state.plane.row(light, 1, y, row, 1);
      for (int64_t x = 0; x < t.width; x += kChunk) {
        const int64_t n = chunk(t.width - x);
        join(lab, row + x, a, b, to, n);
        to += 3 * n, a += n, b += n;
      }
    }
  }

  static int64_t chunk(int64_t left) { return std::min<int64_t>(kChunk, left); }

  // Channel by channel, so that the compiler can use vectors.
  static void split(const device::LabTables& lab, const uint8_t* __restrict from, uint8_t* __restrict light,
                    uint8_t* __restrict a, uint8_t* __restrict b, int64_t n) {
    int32_t in[3][kChunk];
    for (int64_t i = 0; i < n; i++)
      for (int k = 0; k < 3; k++) in[k][i] = from[3 * i + k];
    for (int64_t i = 0; i < n; i++) {
      const device::Lab v = device::lab_split(lab, in[0][i], in[1][i], in[2][i]);
      light[i] = uint8_t(v.light), a[i] = uint8_t(v.a), b[i] = uint8_t(v.b);
    }
  }

  static void join(const device::LabTables& lab, const uint8_t* __restrict light, const uint8_t* __restrict a,
                   const uint8_t* __restrict b, uint8_t* __restrict to, int64_t n) {
    int32_t out[3][kChunk];
    for (int64_t i = 0; i < n; i++) {
      int32_t made[3];
      device::lab_join(lab, device::Lab{light[i], a[i], b[i]}, made);
      out[0][i] = made[0], out[1][i] = made[1], out[2][i] = made[2];
    }
    for (int64_t i = 0; i < n; i++)
      for (int k = 0; k < 3; k++) to[3 * i + k] = uint8_t(out[k][i]);
  }

  int64_t across_, down_;
  double limit_;
  bool luma_only_;
};

PS_OPERATOR("clahe", Clahe)

}  // namespace ps
