// Prefix sums (inclusive scans) by a whole block, with any associative operation.
#pragma once

#include "device/base/lanes.h"

namespace ps::device {

#if !PS_HOST
// The value of another lane.
template <class T> PS_FN T value_of(int lane, const T& own) {
  union {
    T value;
    uint32_t words[sizeof(T) / 4];
  } all = {own};
  PS_UNROLL for (uint32_t& w : all.words) w = value_of(lane, w);
  return all.value;
}

// The inclusive scan of the values of a warp's threads.
template <class T, class Join> PS_FN T scan_lanes(T sum, Join join) {
  PS_UNROLL for (int distance = 1; distance < kLanes; distance *= 2) {
    const T before = value_of(lane() - distance, sum);
    if (lane() >= distance) sum = join(before, sum);
  }
  return sum;
}

// The inclusive scan of the values of a block's threads. `totals` is shared memory for threads() values, which hold the
// results too until the next sync().
template <class T, class Join> PS_FN void scan_threads(T* totals, const T& own, Join join) {
  const int t = thread();
  T sum = scan_lanes(own, join);
  totals[t] = sum;
  sync();
  if (t >= kLanes) {
    T before = totals[kLanes - 1];
    PS_LOOP for (int last = 2 * kLanes - 1; last < t / kLanes * kLanes; last += kLanes)
      before = join(before, totals[last]);
    sum = join(before, sum);
  }
  sync();
  totals[t] = sum;
  sync();
}

// The inclusive scan of n values in place. Threads are synchronized before (by the caller) and afterwards.
template <class T, class Join> PS_FN void scan_values(T* values, int64_t n, T* totals, T none, Join join) {
  const int64_t each = (n + threads() - 1) / threads();
  const int64_t begin = min(each * thread(), n), end = min(begin + each, n);
  T sum = none;
  for (int64_t i = begin; i < end; i++) sum = join(sum, values[i]);
  scan_threads(totals, sum, join);
  sum = thread() ? totals[thread() - 1] : none;
  for (int64_t i = begin; i < end; i++) values[i] = sum = join(sum, values[i]);
  sync();
}

struct JoinSums {
  PS_FN uint32_t operator()(uint32_t a, uint32_t b) const { return a + b; }
};
#endif

}  // namespace ps::device
