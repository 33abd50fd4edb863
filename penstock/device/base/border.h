// What stands beyond the border, and rounding as OpenCV has it.
#pragma once

#include "device/base/convert.h"

namespace ps::device {

// The numbers are those that the host writes.
enum Border : int32_t { kReplicated, kReflected1001, kReflected101, kWrapped, kLeftOut };

// Most places beyond an axis of n are nearer than n to it, which takes no division.
PS_FN bool on_axis(int64_t i, int64_t n) { return uint64_t(i) < uint64_t(n); }
PS_FN int64_t in_period(int64_t i, int64_t period) { return (i % period + period) % period; }

// Where a place is on the axis: mirrored, without the last place.
PS_FN int64_t mirrored_101(int64_t i, int64_t n) {
  if (on_axis(i, n)) return i;
  const int64_t once = i < 0 ? -i : 2 * n - 2 - i;
  if (on_axis(once, n)) return once;
  if (n == 1) return 0;
  i = in_period(i, 2 * n - 2);
  return min(i, 2 * n - 2 - i);
}
PS_FN int64_t mirrored_1001(int64_t i, int64_t n) {
  const int64_t once = i < 0 ? -1 - i : 2 * n - 1 - i;
  if (on_axis(once, n)) return once;
  i = in_period(i, 2 * n);
  return min(i, 2 * n - 1 - i);
}
PS_FN int64_t wrapped(int64_t i, int64_t n) {
  const int64_t once = i < 0 ? i + n : i - n;
  return on_axis(once, n) ? once : in_period(i, n);
}

// Which place of n stands at place i; -1: none.
PS_FN int64_t border_place(int32_t border, int64_t i, int64_t n) {
  if (on_axis(i, n)) return i;
  if (border == kLeftOut) return -1;
  if (border == kReflected101) return mirrored_101(i, n);
  if (border == kReplicated) return i < 0 ? 0 : n - 1;
  return border == kWrapped ? wrapped(i, n) : mirrored_1001(i, n);
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
