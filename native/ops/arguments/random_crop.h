// The random window of Inception-style training crops: an area and an aspect ratio are drawn, then a place.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "core/operator.h"
#include "core/rows.h"

namespace ps {

struct RandomCropParams {
  float area_min, area_max;        // as a share of the picture's area
  float aspect_min, aspect_max;    // width / height
  int attempts;
};

// Arguments random_area, random_aspect_ratio (two numbers, or one for both) and num_attempts.
inline RandomCropParams random_crop_params(const Spec& s) {
  RandomCropParams p;
  const Context none;
  auto range = [&](const char* name, float& lo, float& hi) {
    const Arg<float> a = s.arg<float>(name);
    lo = a.get(none, 0);
    hi = a.get(none, a.size(none) > 1 ? 1 : 0);
  };
  range("random_area", p.area_min, p.area_max);
  range("random_aspect_ratio", p.aspect_min, p.aspect_max);
  p.attempts = int(s.integer("num_attempts"));
  return p;
}

namespace detail {

struct CropSize {
  int64_t w, h;
};

// Uniform in [lo, hi] with the 24 bits that a float holds.
inline float between(uint32_t bits, float lo, float hi) { return lo + (hi - lo) * (float(bits >> 8) * 0x1p-24f); }

// Uniform in 0..n-1; the bias of n / 2^32 is far below what any data set could show.
inline int64_t below(uint32_t bits, int64_t n) { return int64_t((uint64_t(bits) * uint64_t(n)) >> 32); }

// The bound keeps extreme aspect ratios within int64_t. Not-a-number, such as the root of an area below 0, is 1.
inline int64_t at_least_one(float v) { return v > 1 ? int64_t(std::min(v, 0x1p40f)) : 1; }

// The largest size that the aspect ratios permit, shrunk to the largest area permitted.
inline CropSize last_resort(int64_t w, int64_t h, int64_t widest, int64_t tallest, const RandomCropParams& p) {
  const float aspect = float(w) / float(h);
  CropSize s{w, h};
  if (aspect > p.aspect_max) s.w = widest;
  else if (aspect < p.aspect_min) s.h = tallest;
  const float scale = std::sqrt(std::min(1.0f, p.area_max * float(w) * float(h) / (float(s.w) * float(s.h))));
  return {at_least_one(float(s.w) * scale), at_least_one(float(s.h) * scale)};
}

template <class Rng>
CropSize random_crop_size(Rng& rng, int64_t w, int64_t h, const RandomCropParams& p) {
  const int64_t widest = at_least_one(float(h) * p.aspect_max);
  const int64_t tallest = p.aspect_min > 0 ? at_least_one(float(w) * (1 / p.aspect_min)) : 1;   // as DALI's
  const float area = float(w) * float(h), least = area * p.area_min;
  // No window of a permitted shape has the least area: the picture is far too wide, or too tall.
  if (float(h) * float(widest) < least) return {widest, h};
  if (float(w) * float(tallest) < least) return {w, tallest};
  const float log_min = std::log(p.aspect_min), log_max = std::log(p.aspect_max);
  for (int i = 0; i < p.attempts; i++) {
    const float target = area * between(rng(), p.area_min, p.area_max);
    const float aspect = std::exp(between(rng(), log_min, log_max));
    const CropSize s{at_least_one(std::round(std::sqrt(target * aspect))),
                     at_least_one(std::round(std::sqrt(target / aspect)))};
    const float rounded = float(s.w) / float(s.h);
    if (s.w <= w && s.h <= h && rounded >= p.aspect_min && rounded <= p.aspect_max) return s;
  }
  return last_resort(w, h, widest, tallest, p);
}

}  // namespace detail

// The window of a picture of `width` x `height` pixels; empty for an empty picture.
// `rng()` gives 32 random bits at each call (std::uniform_random_bit_generator with the full range of uint32_t).
template <class Rng>
Window random_crop(Rng&& rng, int64_t width, int64_t height, const RandomCropParams& p) {
  if (width <= 0 || height <= 0) return {};
  detail::CropSize s = detail::random_crop_size(rng, width, height, p);
  s.w = std::min(s.w, width), s.h = std::min(s.h, height);
  const int64_t y = detail::below(rng(), height - s.h + 1), x = detail::below(rng(), width - s.w + 1);
  return {x, y, x + s.w, y + s.h};
}

}  // namespace ps
