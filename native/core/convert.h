// Numbers of one type as numbers of another: floats are rounded to integers half away from zero, whatever does not fit
// saturates, and not-a-number becomes 0. DALI's conversions, but defined for every value and at every SIMD level.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>

#if defined(__F16C__)
#include <immintrin.h>
#endif

#include "core/error.h"
#include "core/half.h"
#include "core/tensor.h"

namespace ps {

// Calls f(tag) with the C++ type of `t`: visit(t, [&](auto tag) { using T = typename decltype(tag)::type; ... }).
template <class F> decltype(auto) visit(DType t, F&& f) {
  switch (t) {
    case DType::u8: return f(std::type_identity<uint8_t>{});
    case DType::u16: return f(std::type_identity<uint16_t>{});
    case DType::u32: return f(std::type_identity<uint32_t>{});
    case DType::u64: return f(std::type_identity<uint64_t>{});
    case DType::i8: return f(std::type_identity<int8_t>{});
    case DType::i16: return f(std::type_identity<int16_t>{});
    case DType::i32: return f(std::type_identity<int32_t>{});
    case DType::i64: return f(std::type_identity<int64_t>{});
    case DType::f16: return f(std::type_identity<half>{});
    case DType::f32: return f(std::type_identity<float>{});
    case DType::f64: return f(std::type_identity<double>{});
    case DType::boolean: return f(std::type_identity<bool>{});
    default: fail(ErrorKind::type, std::string("expected a numeric type, got ") + name_of(t));
  }
}

// Of the same number of bytes, for code that only moves elements.
template <class F> decltype(auto) visit_size(size_t bytes, F&& f) {
  switch (bytes) {
    case 1: return f(std::type_identity<uint8_t>{});
    case 2: return f(std::type_identity<uint16_t>{});
    case 4: return f(std::type_identity<uint32_t>{});
    default: return f(std::type_identity<uint64_t>{});
  }
}

namespace detail {

template <class T> constexpr bool is_real = std::is_floating_point_v<T> || std::is_same_v<T, half>;

// Ready to be truncated. Adding the number just below 1/2 instead of 1/2 itself keeps 0.49999997 and odd numbers
// above 2^23 where they are.
inline float add_half(float v) { return v + std::copysign(0x1.fffffep-2f, v); }
inline double add_half(double v) { return v + std::copysign(0x1.fffffffffffffp-2, v); }

template <class To, class From> To integer_from_real(From v) {
  using Limits = std::numeric_limits<To>;
  constexpr From low = From(Limits::lowest());
  v = add_half(v == v ? v : From(0));
  if constexpr (Limits::digits <= std::numeric_limits<From>::digits) {
    v = std::min(std::max(v, low), From(Limits::max()));
    if constexpr (sizeof(To) < 4) return To(int32_t(v));       // through int: that is what SIMD converts to
    else return To(v);
  } else {                                                     // the largest integer is no number of type From
    constexpr From end = From(Limits::max() / 2 + 1) * 2;
    const From largest = end * (1 - std::numeric_limits<From>::epsilon() / 2);
    const To fits = To(std::min(std::max(v, low), largest));
    return v >= end ? Limits::max() : fits;
  }
}

template <class To, class From> To integer_from_integer(From v) {
  using T = std::numeric_limits<To>;
  using F = std::numeric_limits<From>;
  if constexpr (std::cmp_less(F::lowest(), T::lowest())) v = std::max(v, From(T::lowest()));
  if constexpr (std::cmp_greater(F::max(), T::max())) v = std::min(v, From(T::max()));
  return To(v);
}

}  // namespace detail

template <class To, class From> inline To convert(From v) {
  using namespace detail;
  if constexpr (std::is_same_v<To, From>) return v;
  else if constexpr (std::is_same_v<From, bool>) return convert<To>(uint8_t(v));
  else if constexpr (std::is_same_v<From, half> && !std::is_same_v<To, double>) return convert<To>(float(v));
  else if constexpr (std::is_same_v<To, bool> && is_real<From>) return !(std::fabs(add_half(v)) < From(1));
  else if constexpr (std::is_same_v<To, bool>) return v != 0;
  else if constexpr (std::is_same_v<To, half> && !is_real<From>) return half(float(v));
  else if constexpr (is_real<To>) return To(v);
  else if constexpr (is_real<From>) return integer_from_real<To>(v);
  else return integer_from_integer<To>(v);
}

#if defined(__F16C__)
namespace detail {

// The compiler does not vectorise these two conversions by itself.
inline size_t halves_from_floats(const float* from, half* to, size_t n) {
  size_t i = 0;
  for (; i + 8 <= n; i += 8)
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to + i), _mm256_cvtps_ph(_mm256_loadu_ps(from + i), 0));
  return i;
}
inline size_t floats_from_halves(const half* from, float* to, size_t n) {
  size_t i = 0;
  for (; i + 8 <= n; i += 8)
    _mm256_storeu_ps(to + i, _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i))));
  return i;
}

}  // namespace detail
#endif

// n numbers; the two may not overlap.
template <class To, class From> void convert_n(const From* __restrict from, To* __restrict to, size_t n) {
  size_t i = 0;
  if constexpr (std::is_same_v<To, From>) {
    if (n) std::memcpy(to, from, n * sizeof(To));
    return;
  }
#if defined(__F16C__)
  constexpr size_t block = 256;        // through floats that stay in the first cache
  if constexpr (std::is_same_v<From, float> && std::is_same_v<To, half>) {
    i = detail::halves_from_floats(from, to, n);
  } else if constexpr (std::is_same_v<From, half> && std::is_same_v<To, float>) {
    i = detail::floats_from_halves(from, to, n);
  } else if constexpr (std::is_same_v<To, half> && !std::is_same_v<From, double>) {
    float buffer[block];
    for (; i + block <= n; i += block) {
      convert_n(from + i, buffer, block);
      detail::halves_from_floats(buffer, to + i, block);
    }
  } else if constexpr (std::is_same_v<From, half>) {
    float buffer[block];
    for (; i + block <= n; i += block) {
      detail::floats_from_halves(from + i, buffer, block);
      convert_n(buffer, to + i, block);
    }
  }
#endif
  for (; i < n; i++) to[i] = convert<To>(from[i]);
}

}  // namespace ps
