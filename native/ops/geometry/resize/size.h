// The sizes and regions that the arguments of resize describe.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>

#include "core/operator.h"

namespace ps {

// Along one axis of space: samples lo to hi of the input (hi < lo: mirrored) fill the output.
struct ResampleRegion {
  int64_t in = 0, out = 0;
  double lo = 0, hi = 0;
};

enum class SizeRounding { nearest, down, up };

// What sizes and regions have in common that are asked for in other words. Sizes are computed in float and regions in
// double, as DALI's: that decides which way half pixels are rounded.
class ResampleExtents {
 public:
  explicit ResampleExtents(const Spec& s)
      : max_size_(s.arg<float>("max_size")), roi_start_(s.arg<float>("roi_start")), roi_end_(s.arg<float>("roi_end")),
        roi_relative_(s.flag("roi_relative")), subpixel_(s.flag("subpixel_scale")) {
    const std::string mode = s.string("mode");
    if (mode == "not_smaller") mode_ = Mode::not_smaller;
    else if (mode == "not_larger") mode_ = Mode::not_larger;
    else if (mode == "stretch") mode_ = Mode::stretch;
  }

 protected:
  enum class Mode { normal, stretch, not_larger, not_smaller };

  // Which of the axes the arguments are of.
  struct Named {
    const int* axes;
    int count;
  };

  // Completes n axes, whose `in` is set, by what was asked for: 0 is nothing, below 0 is mirrored.
  void complete(const Context& c, const Named& named, int n, float* size, ResampleRegion* axes,
                const float* alignment = nullptr, SizeRounding rounding = SizeRounding::nearest) const {
    float scale[kMaxDims], most[kMaxDims] = {}, extent[kMaxDims];
    if (max_size_.given()) list(c, max_size_, "max_size", named, most);
    bool any = false;
    for (int i = 0; i < n; i++) any |= size[i] != 0 && axes[i].in > 0;
    if (!any) std::fill_n(most, n, 0.0f);          // as DALI does
    regions(c, named, n, axes);
    for (int i = 0; i < n; i++) {
      if (size[i] < 0) std::swap(axes[i].lo, axes[i].hi);
      size[i] = std::abs(size[i]);
      extent[i] = float(std::abs(axes[i].hi - axes[i].lo));
      const bool given = size[i] > 0 && extent[i] > 0 && axes[i].in > 0;    // an empty axis stays so
      scale[i] = given ? size[i] / extent[i] : 0;
    }
    if (mode_ == Mode::not_larger || mode_ == Mode::not_smaller) one_scale(n, scale, most, extent, size, axes);
    else each_scale(n, scale, most, extent, size, axes);
    const bool empty = std::any_of(axes, axes + n, [](const ResampleRegion& axis) { return axis.in == 0; });
    for (int i = 0; i < n; i++)
      round(size[i], axes[i], empty ? 0 : 1, rounding, alignment ? double(alignment[i]) : 0.5);
  }

  static void list(const Context& c, const Arg<float>& a, const char* name, const Named& named, float* to) {
    const int64_t have = a.size(c);
    if (have != 1 && have != named.count)
      fail(ErrorKind::argument, std::string(name) + " has " + std::to_string(have) + " values: expected 1 or " +
                                    std::to_string(named.count));
    for (int i = 0; i < named.count; i++) to[named.axes[i]] = a.get(c, have == 1 ? 0 : i);
  }

  static void check_size(float size, const char* name) {
    if (std::abs(size) < 0x1p31f) return;
    fail(ErrorKind::argument, std::string(name) + " is " + std::to_string(size) + ": expected less than 2^31");
  }

  Mode mode_ = Mode::normal;

 private:
  static constexpr float kThinnest = 1e-3f;        // a region that is thinner becomes this much thicker, as DALI's

  void regions(const Context& c, const Named& named, int n, ResampleRegion* axes) const {
    float start[kMaxDims] = {}, end[kMaxDims];
    for (int i = 0; i < n; i++) end[i] = roi_relative_ ? 1 : float(axes[i].in);
    if (roi_start_.given()) {
      list(c, roi_start_, "roi_start", named, start);
      list(c, roi_end_, "roi_end", named, end);
    }
    for (int i = 0; i < n; i++) {
      const float unit = roi_relative_ ? float(axes[i].in) : 1;
      float lo = start[i] * unit, hi = end[i] * unit;
      if (std::abs(hi - lo) < kThinnest) lo -= kThinnest / 2, hi += kThinnest / 2;
      axes[i].lo = lo;
      axes[i].hi = hi;
      constexpr double kFar = 0x1p24;   // positions further out are no exact floats
      if (!(std::abs(axes[i].lo) <= kFar && std::abs(axes[i].hi) <= kFar))
        fail(ErrorKind::argument,
             "the region from " + std::to_string(axes[i].lo) + " to " + std::to_string(axes[i].hi) + " is none");
    }
  }

  // One scale for all axes, from the smallest or the largest one given; where that is an axis's own, its size is just
  // as given, so that a half is rounded up.
  void one_scale(int n, const float* scale, const float* most, const float* extent, float* size,
                 const ResampleRegion* axes) const {
    float s = 0;
    for (int i = 0; i < n; i++) {
      if (scale[i] == 0) continue;
      s = s == 0 ? scale[i] : mode_ == Mode::not_larger ? std::min(s, scale[i]) : std::max(s, scale[i]);
    }
    if (s == 0) s = 1;
    for (int i = 0; i < n; i++)
      if (most[i] > 0 && extent[i] > 0 && axes[i].in > 0) s = std::min(s, most[i] / extent[i]);
    for (int i = 0; i < n; i++)
      if (scale[i] != s) size[i] = extent[i] * s;
  }

  // Axes without a size get the geometric mean of the scales given, or (stretch) stay as they are; and a region does
  // not mirror them: that is DALI's way.
  void each_scale(int n, const float* scale, const float* most, const float* extent, float* size,
                  ResampleRegion* axes) const {
    float product = 1;
    int given = 0;
    for (int i = 0; i < n; i++)
      if (scale[i] > 0) product *= scale[i], given++;
    const float mean = mode_ == Mode::stretch || given == 0 ? 1
                       : given == 1                         ? product
                       : given == 2                         ? std::sqrt(product)
                                                            : std::pow(product, 1.0f / float(given));
    for (int i = 0; i < n; i++) {
      if (size[i] == 0) {
        size[i] = extent[i] * mean;
        if (axes[i].hi < axes[i].lo) std::swap(axes[i].lo, axes[i].hi);
      }
      if (most[i] > 0) size[i] = std::min(size[i], most[i]);
    }
  }

  // The region grows or shrinks with what rounding does to the size, so the scale stays; but not beyond all bounds. A
  // share of it, its centre if that is a half, stays where it is. Of a picture that has pixels, `least` one is left.
  void round(float size, ResampleRegion& axis, int64_t least, SizeRounding rounding, double share) const {
    constexpr float kLeast = 0.1f;
    const auto rounded = [&] {
      return rounding == SizeRounding::down ? int64_t(size)
             : rounding == SizeRounding::up ? int64_t(std::ceil(size))
                                            : int64_t(std::llround(size));
    };
    axis.out = axis.in == 0 ? 0 : std::max(least, rounded());
    if (!subpixel_ || size == float(axis.out) || !(size > 0)) return;
    size = std::max(size, kLeast);
    const double grows = double(axis.out) / double(size);
    const double centre = (axis.lo + axis.hi) / 2, half = (axis.hi - axis.lo) / 2 * grows;
    const double moved = (share - 0.5) * (axis.hi - axis.lo) * (1 - grows);
    axis.lo = centre - half + moved;
    axis.hi = centre + half + moved;
  }

  Arg<float> max_size_, roi_start_, roi_end_;
  bool roi_relative_, subpixel_;
};

// As the arguments of resize say.
class ResampleSize : public ResampleExtents {
 public:
  explicit ResampleSize(const Spec& s)
      : ResampleExtents(s), size_(s.arg<float>("size")), shorter_(s.arg<float>("resize_shorter")),
        longer_(s.arg<float>("resize_longer")) {
    for (int i = 0; i < 3; i++) each_[i] = s.arg<float>(kEach[i]);
    if (shorter_.given()) mode_ = Mode::not_smaller;
    else if (longer_.given()) mode_ = Mode::not_larger;
  }

  // Completes the n axes (depth, height, width, or the last two of them), whose `in` is set.
  void find(const Context& c, int n, ResampleRegion* axes) const {
    float size[3];
    requested(c, n, size);
    complete(c, all(n), n, size, axes);
  }

 private:
  static constexpr const char* kEach[] = {"resize_z", "resize_y", "resize_x"};

  static Named all(int n) {
    static constexpr int axes[] = {0, 1, 2};
    return {axes, n};
  }

  void requested(const Context& c, int n, float* size) const {
    if (size_.given()) list(c, size_, "size", all(n), size);
    else if (shorter_.given()) std::fill_n(size, n, shorter_.get(c));
    else if (longer_.given()) std::fill_n(size, n, longer_.get(c));
    else for (int i = 0; i < n; i++) size[i] = each_[3 - n + i].get(c);
    for (int i = 0; i < n; i++)
      check_size(size[i], size_.given()      ? "size"
                          : shorter_.given() ? "resize_shorter"
                          : longer_.given()  ? "resize_longer"
                                             : kEach[3 - n + i]);
  }

  Arg<float> size_, shorter_, longer_, each_[3];
};

}  // namespace ps
