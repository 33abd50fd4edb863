// The part of a signal that is not silent: where the mean square of a window is large enough. The window's sum moves
// along within blocks, and begins anew in each of them, from sums of whole blocks: so blocks do not wait for each
// other, and errors do not grow. Doubles hold it exactly enough for no threshold to see what is left of louder parts.
#pragma once

#include "device/base/convert.h"

namespace ps::device {

inline constexpr int kRegionBlock = 256;

struct Silence {
  int64_t length, window;
  float cutoff, reference;             // ratio to the reference; 0: the largest mean is that
};

template <class T> PS_FN double square_of(const T* in, int64_t i) {
  const auto v = convert<double>(in[i]);
  return v * v;
}

// Block by block: `sums` of its squares.
template <class T> PS_FN void sum_block(const Silence& s, const T* in, double* sums, int64_t block) {
  const int64_t begin = block * kRegionBlock, end = min(begin + kRegionBlock, s.length);
  double sum = 0;
  for (int64_t i = begin; i < end; i++) sum += square_of(in, i);
  sums[block] = sum;
}

// Of the window that ends before sample `at`, which begins a block.
template <class T> PS_FN double window_sum(const Silence& s, const T* in, const double* sums, int64_t at) {
  int64_t i = max(at - s.window, int64_t(0));
  double sum = 0;
  for (; i < at && i % kRegionBlock; i++) sum += square_of(in, i);
  for (; i < at; i += kRegionBlock) sum += sums[i / kRegionBlock];
  return sum;
}

// Mean squares of the windows that end with each sample of a block; visit(sample, mean) says whether to go on.
template <class T, class Visit>
PS_FN void visit_means(const Silence& s, const T* in, const double* sums, int64_t block, Visit visit) {
  const int64_t begin = block * kRegionBlock, end = min(begin + kRegionBlock, s.length);
  double sum = window_sum(s, in, sums, begin);
  const double share = 1.0 / double(s.window);
  for (int64_t i = begin; i < end; i++) {
    sum += square_of(in, i);
    if (i >= s.window) sum -= square_of(in, i - s.window);
    if (!visit(i, float(max(sum, 0.0) * share))) return;
  }
}

template <class T> PS_FN float largest_mean(const Silence& s, const T* in, const double* sums, int64_t block) {
  float largest = 0;
  visit_means(s, in, sums, block, [&](int64_t, float mean) { return largest = max(largest, mean), true; });
  return largest;
}

PS_FN float threshold_of(const Silence& s, float largest) {
  return (s.reference > 0 ? s.reference : largest) * s.cutoff;
}

// What begins with the window of the first loud sample, and ends with the last one. Blocks are those of both.
struct LoudPart {
  int64_t begin, length;
};
template <class T>
PS_FN LoudPart loud_part(const Silence& s, const T* in, const double* sums, float threshold, int64_t first_block,
                        int64_t last_block) {
  if (first_block > last_block) return {0, 0};
  int64_t first = 0, last = 0;
  visit_means(s, in, sums, first_block, [&](int64_t i, float mean) { return first = i, mean < threshold; });
  visit_means(s, in, sums, last_block, [&](int64_t i, float mean) {
    if (mean >= threshold) last = i;
    return true;
  });
  const int64_t begin = max(first - s.window + 1, int64_t(0));
  return {begin, last + 1 - begin};
}

struct RegionJob {
  const void* in;
  double* sums;
  float* largest;                      // of each block
  int32_t *begin, *count;
  Silence how;
};
inline constexpr int kRegionThreads = 256;

#if !PS_HOST
// A block for each signal.
template <class T> PS_FN void run_region(const Launch& l) {
  PS_SHARED_MEMORY(memory);
  auto* best = reinterpret_cast<float*>(memory);               // of each thread's share
  auto* places = reinterpret_cast<int32_t*>(best + kRegionThreads);
  const auto& job = *reinterpret_cast<const RegionJob*>(l.jobs + int64_t(l.stride) * find_sample(l));
  const Silence& s = job.how;
  const T* in = static_cast<const T*>(job.in);
  const auto blocks = int32_t((s.length + kRegionBlock - 1) / kRegionBlock);
  for (int32_t b = thread(); b < blocks; b += threads()) sum_block(s, in, job.sums, b);
  sync();
  for (int k = thread(); k < kRegionThreads; k += threads()) {
    best[k] = 0;
    for (int32_t b = k; b < blocks; b += kRegionThreads)
      best[k] = max(best[k], job.largest[b] = largest_mean(s, in, job.sums, b));
  }
  sync();
  for (int left = kRegionThreads / 2; left > 0; left /= 2) {
    for (int k = thread(); k < left; k += threads()) best[k] = max(best[k], best[k + left]);
    sync();
  }
  const float threshold = threshold_of(s, best[0]);
  int32_t* lasts = places + kRegionThreads;
  for (int k = thread(); k < kRegionThreads; k += threads()) {
    places[k] = blocks, lasts[k] = -1;
    for (int32_t b = k; b < blocks; b += kRegionThreads)
      if (job.largest[b] >= threshold) places[k] = min(places[k], b), lasts[k] = b;
  }
  sync();
  for (int left = kRegionThreads / 2; left > 0; left /= 2) {
    for (int k = thread(); k < left; k += threads()) {
      places[k] = min(places[k], places[k + left]);
      lasts[k] = max(lasts[k], lasts[k + left]);
    }
    sync();
  }
  if (thread() == 0) {
    const LoudPart found = loud_part(s, in, job.sums, threshold, places[0], lasts[0]);
    *job.begin = int32_t(found.begin);
    *job.count = int32_t(found.length);
  }
}
#define PS_REGION_KERNEL(T) \
  PS_KERNEL kernel(ps::device::Launch launch) { ps::device::run_region<T>(launch); }
#endif

}  // namespace ps::device
