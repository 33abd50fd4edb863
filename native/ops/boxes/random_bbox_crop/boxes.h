// Boxes of up to three axes, in shares of a picture's extents, and what they have in common.
#pragma once

#include <algorithm>

namespace ps {

inline constexpr int kMostBoxAxes = 3;

struct AxisBox {
  float low[kMostBoxAxes] = {}, high[kMostBoxAxes] = {};

  float volume(int axes) const {
    float v = 1;
    for (int k = 0; k < axes; k++) v *= high[k] - low[k];
    return v;
  }
  float intersection(const AxisBox& o, int axes) const {
    float v = 1;
    for (int k = 0; k < axes; k++) v *= std::max(std::min(high[k], o.high[k]) - std::max(low[k], o.low[k]), 0.0f);
    return v;
  }
  // How much of this box is in another, and how much both have in common, of all that they have.
  float overlap(const AxisBox& o, int axes) const { return share(intersection(o, axes), volume(axes)); }
  float iou(const AxisBox& o, int axes) const {
    const float both = intersection(o, axes);
    return share(both, volume(axes) + o.volume(axes) - both);
  }
  bool has_middle_of(const AxisBox& o, int axes) const {
    for (int k = 0; k < axes; k++) {
      const float middle = 0.5f * (o.low[k] + o.high[k]);
      if (!(middle >= low[k] && middle <= high[k])) return false;
    }
    return true;
  }

 private:
  static float share(float part, float whole) { return whole > 0 ? part / whole : 0; }
};

}  // namespace ps
