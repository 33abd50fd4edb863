// The element-wise functions of arithmetic, for CPU and GPU alike; ops/tensor/arithmetic/functions.h lists them.
// The types are those in which they are computed: bool, integers, float and double.
#pragma once

#include "device/base/convert.h"

namespace ps::device {

template <class T> inline constexpr bool kReal = is_same<T, float> || is_same<T, double>;
template <class T> inline constexpr bool kFlag = is_same<T, bool>;
template <class T> inline constexpr bool kSigned = !is_real<T> && is_signed<T>;
template <class T> inline constexpr bool kUnsigned = !is_real<T> && !kFlag<T> && !is_signed<T>;

template <bool condition, class A, class B> struct Either { using type = A; };
template <class A, class B> struct Either<false, A, B> { using type = B; };
template <bool condition, class A, class B> using either = typename Either<condition, A, B>::type;

// Integers as the unsigned type that wraps where they would overflow (narrow ones would be promoted to int); floats as
// themselves.
template <class T> using W = either<kReal<T>, T, either<sizeof(T) < 8, uint32_t, uint64_t>>;

struct Same { template <class T> PS_FN static T of(T a) { return a; } };
struct Add { template <class T> PS_FN static T of(T a, T b) { return T(W<T>(a) + W<T>(b)); } };
struct Sub { template <class T> PS_FN static T of(T a, T b) { return T(W<T>(a) - W<T>(b)); } };
struct Mul { template <class T> PS_FN static T of(T a, T b) { return T(W<T>(a) * W<T>(b)); } };
struct Minus { template <class T> PS_FN static T of(T a) { return T(-W<T>(a)); } };
struct Abs {
  template <class T> PS_FN static T of(T a) {
    if constexpr (is_same<T, float>) return ::fabsf(a);
    else if constexpr (is_same<T, double>) return ::fabs(a);
    else if constexpr (kSigned<T>) return a < 0 ? T(-W<T>(a)) : a;
    else return a;
  }
};

struct Min { template <class T> PS_FN static T of(T a, T b) { return a < b ? a : b; } };
struct Max { template <class T> PS_FN static T of(T a, T b) { return a > b ? a : b; } };
struct Clamp {
  template <class T> PS_FN static T of(T v, T low, T high) {
    v = v < low ? low : v;
    return high < v ? high : v;
  }
};

// Integers are truncated towards 0. Only the smallest number by -1 overflows: it wraps. On the CPU the divisor is known
// not to be 0; on the GPU, which cannot raise an error, the quotient by 0 is 0.
struct Div {
  template <class T> PS_FN static T of(T a, T b) {
    if constexpr (kReal<T>) return a / b;
    else if constexpr (kSigned<T>) return b == T(-1) ? T(-W<T>(a)) : quotient(a, b == T(-1) ? T(1) : b);
    else return quotient(a, b);
  }
  template <class T> PS_FN static T quotient(T a, T b) {
#if PS_HOST
    // Processors have no vectors of integer division. With 32 bits the quotient of doubles is never rounded up to the
    // next whole number.
    if constexpr (sizeof(T) < 4 || is_same<T, int32_t>) return T(int32_t(double(a) / double(b)));
    else return T(a / b);
#else
    return b == 0 ? T(0) : T(a / b);
#endif
  }
};
struct Mod {
  template <class T> PS_FN static T of(T a, T b) {
    if constexpr (is_same<T, float>) return ::fmodf(a, b);
    else if constexpr (is_same<T, double>) return ::fmod(a, b);
    else return T(W<T>(a) - W<T>(Div::of(a, b)) * W<T>(b));
  }
};
struct Pow {
  template <class T> PS_FN static T of(T base, T exponent) {
    if constexpr (is_same<T, float>) {
      return ::powf(base, exponent);
    } else if constexpr (is_same<T, double>) {
      return ::pow(base, exponent);
    } else {
      if constexpr (kSigned<T>) if (exponent < 0) return 0;
      W<T> result = 1, square = W<T>(base);
      for (W<T> e = W<T>(exponent); e; e >>= 1, square *= square)
        if (e & 1) result *= square;
      return T(result);
    }
  }
};

struct And { template <class T> PS_FN static T of(T a, T b) { return T(a & b); } };
struct Or { template <class T> PS_FN static T of(T a, T b) { return T(a | b); } };
struct Xor { template <class T> PS_FN static T of(T a, T b) { return T(a ^ b); } };
struct Not { template <class T> PS_FN static T of(T a) { if constexpr (kFlag<T>) return !a; else return T(~a); } };

// Counts are taken modulo 32, or 64 for 64-bit numbers.
template <class T> inline constexpr unsigned kShiftMask = sizeof(T) < 8 ? 31 : 63;
struct LeftShift { template <class T> PS_FN static T of(T a, T b) { return T(W<T>(a) << (W<T>(b) & kShiftMask<T>)); } };
struct RightShift {
  template <class T> PS_FN static T of(T a, T b) {
    using Signed = either<sizeof(T) < 8, int32_t, int64_t>;
    if constexpr (kSigned<T>) return T(Signed(a) >> (W<T>(b) & kShiftMask<T>));
    else return T(W<T>(a) >> (W<T>(b) & kShiftMask<T>));
  }
};

// Integers of different signedness are compared as the numbers that they are.
template <class A, class B> PS_FN bool equal(A a, B b) {
  if constexpr (kSigned<A> && kUnsigned<B>) return a >= 0 && uint64_t(a) == uint64_t(b);
  else if constexpr (kUnsigned<A> && kSigned<B>) return b >= 0 && uint64_t(a) == uint64_t(b);
  else return a == b;
}
template <class A, class B> PS_FN bool less(A a, B b) {
  if constexpr (kSigned<A> && kUnsigned<B>) return a < 0 || uint64_t(a) < uint64_t(b);
  else if constexpr (kUnsigned<A> && kSigned<B>) return b >= 0 && uint64_t(a) < uint64_t(b);
  else return a < b;
}
struct Equal { template <class A, class B> PS_FN static bool of(A a, B b) { return equal(a, b); } };
struct NotEqual { template <class A, class B> PS_FN static bool of(A a, B b) { return !equal(a, b); } };
struct Less { template <class A, class B> PS_FN static bool of(A a, B b) { return less(a, b); } };
struct LessEqual {
  template <class A, class B> PS_FN static bool of(A a, B b) {
    if constexpr (is_same<A, B>) return a <= b;
    else return !less(b, a);
  }
};

#define PS_REAL_FUNCTION(Name, function)                          \
  struct Name {                                                   \
    PS_FN static float of(float x) { return ::function##f(x); }   \
    PS_FN static double of(double x) { return ::function(x); }    \
  };
PS_REAL_FUNCTION(Sqrt, sqrt)
PS_REAL_FUNCTION(Cbrt, cbrt)
PS_REAL_FUNCTION(Exp, exp)
PS_REAL_FUNCTION(Log, log)
PS_REAL_FUNCTION(Log2, log2)
PS_REAL_FUNCTION(Log10, log10)
PS_REAL_FUNCTION(Floor, floor)
PS_REAL_FUNCTION(Ceil, ceil)
PS_REAL_FUNCTION(Sin, sin)
PS_REAL_FUNCTION(Cos, cos)
PS_REAL_FUNCTION(Tan, tan)
PS_REAL_FUNCTION(Asin, asin)
PS_REAL_FUNCTION(Acos, acos)
PS_REAL_FUNCTION(Atan, atan)
PS_REAL_FUNCTION(Sinh, sinh)
PS_REAL_FUNCTION(Cosh, cosh)
PS_REAL_FUNCTION(Tanh, tanh)
PS_REAL_FUNCTION(Asinh, asinh)
PS_REAL_FUNCTION(Acosh, acosh)
PS_REAL_FUNCTION(Atanh, atanh)
#undef PS_REAL_FUNCTION
struct Rsqrt { template <class T> PS_FN static T of(T x) { return T(1) / Sqrt::of(x); } };
struct Atan2 {
  PS_FN static float of(float y, float x) { return ::atan2f(y, x); }
  PS_FN static double of(double y, double x) { return ::atan2(y, x); }
};

}  // namespace ps::device
