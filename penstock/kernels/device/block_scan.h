// Sums of all that comes before, by a whole block: of anything that an associative operation joins.
#pragma once

#include "kernels/device/base.h"

namespace ps::device {

#if !PS_HOST
// From each thread's own value to those of all threads up to it. `totals` is shared memory for threads() values, which
// hold them too until the next sync().
template <class T, class Join> PS_FN void scan_threads(T* totals, const T& own, Join join) {
  const int t = thread();
  T sum = own;
  totals[t] = sum;
  sync();
  for (int distance = 1; distance < threads(); distance *= 2) {
    const bool more = t >= distance;
    T before = sum;
    if (more) before = totals[t - distance];
    sync();
    if (more) totals[t] = sum = join(before, sum);
    sync();
  }
}

// Each of n values becomes the sum of all up to it. Threads have to be in step before and are so behind.
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
