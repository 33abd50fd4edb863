// The tables of a plane's tiles, and what they make of its rows, on the CPU.
#pragma once

#include <algorithm>
#include <cstring>
#include <vector>

#include "device/color/clahe.h"

namespace ps {

class ClahePlane {
  static constexpr int64_t kGrays = device::kGrays;

 public:
  // Of pixels `step` bytes apart.
  void begin(const uint8_t* in, const device::ClaheTiles& t, int64_t step) {
    tiles_ = t;
    band_ = -1;
    tables_.resize(size_t(t.count() * kGrays));
    for (int64_t row = 0; row < t.down; row++) {
      // Two counters of each by turns: equal neighbours then need not wait for each other.
      counts_.assign(size_t(t.across * kGrays * 2), 0);
      for (int64_t y = row * t.tile_height; y < (row + 1) * t.tile_height; y++)
        count(in + t.row(y) * t.width * step, step);
      for (int64_t k = 0; k < t.across; k++) {
        uint32_t* both = counts_.data() + k * 2 * kGrays;
        for (int64_t v = 0; v < kGrays; v++) both[v] += both[kGrays + v];
        device::clahe_table(both, t, tables_.data() + (row * t.across + k) * kGrays);
      }
    }
    // Where along a row which two tiles are the nearest ones.
    columns_.resize(size_t(t.width));
    ends_.clear();
    for (int32_t x = 0; x < t.width; x++) {
      const device::ClahePlace p = device::clahe_place(x, 1.0f / float(t.tile_width), t.across);
      columns_[size_t(x)] = p.part;
      if (ends_.empty() || ends_.back().first != p.first || ends_.back().second != p.second)
        ends_.push_back({p.first, p.second, x});
      ends_.back().end = x + 1;
    }
  }

  void row(const uint8_t* __restrict in, int64_t step, int32_t y, uint8_t* __restrict out, int64_t out_step) {
    const device::ClahePlace v = device::clahe_place(y, 1.0f / float(tiles_.tile_height), tiles_.down);
    if (const int64_t band = v.first * int64_t(tiles_.down) + v.second; band != band_) join(v), band_ = band;
    const float* __restrict parts = columns_.data();
    int64_t x = 0;
    for (size_t i = 0; i < ends_.size(); i++) {
      const uint32_t* __restrict four = fours_.data() + int64_t(i) * kGrays;
      const int64_t end = ends_[i].end;
      if (step == 1 && out_step == 1) {
        for (; x < end; x++) out[x] = value(four[in[x]], parts[x], v.part);
      } else {
        for (; x < end; x++) out[x * out_step] = value(four[in[x * step]], parts[x], v.part);
      }
    }
  }

 private:
  struct Stretch {
    int32_t first, second, end;
  };

  static uint8_t value(uint32_t four, float x, float y) {
    const auto of = [&](int byte) { return float(int32_t(four >> (8 * byte) & 255)); };
    const float lower = of(0) * (1 - x) + of(1) * x, upper = of(2) * (1 - x) + of(3) * x;
    return uint8_t(int(device::even_half(lower * (1 - y) + upper * y)));
  }

  void count(const uint8_t* in, int64_t step) {
    for (int64_t k = 0; k < tiles_.across; k++) {
      uint32_t* to = counts_.data() + k * 2 * kGrays;
      const int64_t end = (k + 1) * tiles_.tile_width, there = std::min<int64_t>(end, tiles_.width);
      int64_t x = k * tiles_.tile_width;
      for (; x + 1 < there; x += 2) to[in[x * step]]++, to[kGrays + in[(x + 1) * step]]++;
      for (; x < end; x++) to[in[tiles_.column(x) * step]]++;
    }
  }

  // What all values become by the four tiles around each stretch of a row, a byte of each.
  void join(const device::ClahePlace& v) {
    fours_.resize(ends_.size() * kGrays);
    const uint8_t* lower = tables_.data() + int64_t(v.first) * tiles_.across * kGrays;
    const uint8_t* upper = tables_.data() + int64_t(v.second) * tiles_.across * kGrays;
    uint32_t* to = fours_.data();
    for (const Stretch& s : ends_)
      for (int64_t i = 0; i < kGrays; i++) {
        const int64_t left = s.first * kGrays + i, right = s.second * kGrays + i;
        *to++ = uint32_t(lower[left] | lower[right] << 8 | upper[left] << 16) | uint32_t(upper[right]) << 24;
      }
  }

  device::ClaheTiles tiles_{};
  int64_t band_ = -1;
  std::vector<uint32_t> counts_, fours_;
  std::vector<uint8_t> tables_;
  std::vector<float> columns_;
  std::vector<Stretch> ends_;
};

}  // namespace ps
