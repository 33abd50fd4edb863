// Histograms made even: counts, tables of them, and values by tables.
#pragma once

#include "device/base/divisor.h"
#include "device/color/histogram.h"
#include "device/tensor/elements.h"

namespace ps::device {

inline constexpr int kEqualizeSlices = 16;

PS_FN uint8_t nearest_gray(float v) {                    // halves go to the even one; from 0 to 255
#if defined(__CUDACC_RTC__)
  return uint8_t(::rintf(v));
#else
  return uint8_t(std::nearbyint(v));
#endif
}

// What becomes of each value, given how often each is there.
PS_FN void equalize_table(const uint32_t* counts, uint8_t* table) {
  int first = 0;
  while (first < kGrays - 1 && !counts[first]) first++;
  uint64_t all = 0;
  for (int v = 0; v < kGrays; v++) all += counts[v];
  if (counts[first] == all) {                            // a single value stays what it is
    for (int v = 0; v < kGrays; v++) table[v] = uint8_t(v);
    return;
  }
  const float scale = 255.0f / float(int64_t(all - counts[first]));
  uint64_t sum = 0;
  for (int v = 0; v < kGrays; v++) {
    if (v > first) sum += counts[v];
    table[v] = nearest_gray(min(float(int64_t(sum)) * scale, 255.0f));
  }
}

// Each of a picture's histograms is counted in slices, which are its parts.
struct EqualizeCounts {
  const uint8_t* in;
  uint32_t* counts;                                      // by histogram, slice and value
  int64_t pixels;                                        // of a plane
  int32_t channels;                                      // of a plane: each has a histogram
#if !PS_HOST
  template <class F> PS_FN void visit(int64_t part, const F& f) const {
    const int64_t histogram = part / kEqualizeSlices, slice = part % kEqualizeSlices;
    const uint8_t* from = in + histogram / channels * pixels * channels + histogram % channels;
    const int64_t end = (slice + 1) * pixels / kEqualizeSlices;
    for (int64_t p = slice * pixels / kEqualizeSlices + thread(); p < end; p += threads()) f(from[p * channels]);
  }
#endif
};

struct EqualizeSums {                                    // of slices, into the first one's place
  uint32_t* counts;
  PS_FN void element(int64_t i) const {
    uint32_t* to = counts + i / kGrays * kGrays * kEqualizeSlices + i % kGrays;
    uint32_t sum = 0;
    for (int slice = 0; slice < kEqualizeSlices; slice++) sum += to[slice * kGrays];
    to[0] = sum;
  }
};

struct EqualizeTables {
  const uint32_t* counts;
  uint8_t* tables;
  PS_FN void element(int64_t i) const {
    equalize_table(counts + i * kGrays * kEqualizeSlices, tables + i * kGrays);
  }
};

struct EqualizeValues {
  const uint8_t *in, *tables;
  uint8_t* out;
  Divisor plane, channels;                               // elements of a plane
  PS_FN void element(int64_t i) const {
    const uint64_t p = plane.quotient(uint64_t(i)), pixel = channels.quotient(uint64_t(i));
    const uint64_t c = uint64_t(i) - pixel * channels.number();
    out[i] = tables[(p * channels.number() + c) * kGrays + in[i]];
  }
};

}  // namespace ps::device
