// Numbers of one type as numbers of another, as core/convert.h has it for the CPU: floats are rounded to integers half
// away from zero, whatever does not fit saturates, and not-a-number becomes 0.
#pragma once

#include "device/base/half.h"

namespace ps::device {

template <class T> inline constexpr bool is_real = is_same<T, float> || is_same<T, double> || is_same<T, half>;
template <class T> inline constexpr bool is_signed = T(-1) < T(0);

template <class T> struct Limits {     // of integers
  static constexpr int bits = int(sizeof(T)) * 8;
  static constexpr T max = is_signed<T> ? T((uint64_t(1) << (bits - 1)) - 1) : T(~uint64_t(0) >> (64 - bits));
  static constexpr T min = is_signed<T> ? T(-max - 1) : T(0);
};

PS_FN float add_half(float v) { return v + (v < 0 ? -0x1.fffffep-2f : 0x1.fffffep-2f); }
PS_FN double add_half(double v) { return v + (v < 0 ? -0x1.fffffffffffffp-2 : 0x1.fffffffffffffp-2); }

#if defined(__CUDACC_RTC__)
// The hardware converts a quarter as many numbers as it adds. Next to 2^23, where a float's last bit is one, integers
// are in the lower bits.
template <class T> PS_FN float float_from_small(T v) { return __uint_as_float(0x4b000000u | v) - 0x1p23f; }
template <class T> PS_FN T small_from_float(float v) {       // as integer_from_real does it
  v = fminf(fmaxf(v, 0.0f), float(T(~0)));
  return T(__float_as_uint(__fadd_rz(v + 0x1.fffffep-2f, 0x1p23f)));
}
#else
template <class T> PS_FN float float_from_small(T v) { return float(v); }
#endif
template <class T> inline constexpr bool is_small = is_same<T, uint8_t> || is_same<T, uint16_t>;

template <class To, class From> PS_FN To integer_from_real(From v) {
#if defined(__CUDACC_RTC__)
  if constexpr (is_small<To> && is_same<From, float>) return small_from_float<To>(v);
#endif
  v = add_half(v == v ? v : From(0));
  constexpr From end = From(Limits<To>::max / 2 + 1) * 2;      // the first number that is too large
  if (v >= end) return Limits<To>::max;
  if (v <= From(Limits<To>::min)) return Limits<To>::min;
  return To(v);
}

template <class To, class From> PS_FN To integer_from_integer(From v) {
  if constexpr (is_signed<From> && !is_signed<To>) {
    if (v < 0) return 0;
    if (uint64_t(v) > uint64_t(Limits<To>::max)) return Limits<To>::max;
  } else if constexpr (!is_signed<From>) {
    if (uint64_t(v) > uint64_t(Limits<To>::max)) return Limits<To>::max;
  } else {
    if (int64_t(v) > int64_t(Limits<To>::max)) return Limits<To>::max;
    if (int64_t(v) < int64_t(Limits<To>::min)) return Limits<To>::min;
  }
  return To(v);
}

template <class To, class From> PS_FN To convert(From v) {
  if constexpr (is_same<To, From>) return v;
  else if constexpr (is_same<From, bool>) return convert<To>(uint8_t(v));
  else if constexpr (is_same<From, half> && !is_same<To, double>) return convert<To>(float(v));
  else if constexpr (is_same<From, half>) return To(float(v));
  else if constexpr (is_same<To, bool> && is_real<From>) return !(add_half(v) < From(1) && add_half(v) > From(-1));
  else if constexpr (is_same<To, bool>) return v != 0;
  else if constexpr (is_same<To, half> && is_same<From, double>) return half(v);      // rounded once
  else if constexpr (is_same<To, half>) return half(float(v));
  else if constexpr (is_small<From> && is_same<To, float>) return float_from_small(v);
  else if constexpr (is_real<To>) return To(v);
  else if constexpr (is_real<From>) return integer_from_real<To>(v);
  else return integer_from_integer<To>(v);
}

}  // namespace ps::device
