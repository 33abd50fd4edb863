// What stands beyond the border, and rounding as OpenCV has it.
#pragma once

#include "device/base/convert.h"

namespace ps::device {

// The numbers are those that the host writes.
enum Border : int32_t { kReplicated, kReflected1001, kReflected101, kWrapped, kLeftOut };

// Where a place beyond an axis of n is: mirrored, without the last place.
PS_FN int64_t mirrored_101(int64_t i, int64_t n) {
  if (uint64_t(i) < uint64_t(n)) return i;
  if (n == 1) return 0;
  const int64_t period = 2 * n - 2;
  i = (i % period + period) % period;
  return min(i, period - i);
}

// Which place of n stands at place i; -1: none.
PS_FN int64_t border_place(int32_t border, int64_t i, int64_t n) {
  if (uint64_t(i) < uint64_t(n)) return i;
  if (border == kLeftOut) return -1;
  if (border == kReflected101) return mirrored_101(i, n);
  if (border == kReplicated) return i < 0 ? 0 : n - 1;
  const int64_t period = border == kWrapped ? n : 2 * n;
  i = (i % period + period) % period;
  return min(i, 2 * n - 1 - i);        // a place that is wrapped is below n
}

// Where integers are wanted halves go to the even one.
PS_FN float even_half(float v) {
#if defined(__CUDACC_RTC__)
  return ::rintf(v);
#else
  return std::rint(v);
#endif
}
template <class Out> PS_FN Out even_rounded(float sum) {
  if constexpr (is_real<Out>) return convert<Out>(sum);
  else return convert<Out>(even_half(sum));
}

}  // namespace ps::device
