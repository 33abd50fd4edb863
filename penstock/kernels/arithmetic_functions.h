// The element-wise functions, as loops over a block of elements of one type.
#pragma once

#include <cmath>
#include <string_view>
#include <utility>

#include "core/convert.h"

namespace ps::arithmetic {

// What the operands become before the function, and what its result is.
enum class Family {
  ring,     // the promoted type; + - * give the same bits for signed and unsigned
  ordered,  // the promoted type
  bits,     // the promoted type, of integers or booleans
  shift,    // as bits, but signs matter
  real,     // a float
  compare,  // a boolean; operands are compared as numbers, whatever their signedness
};

using Loop = void (*)(const void* const* operands, void* out, size_t n);

struct Function {
  std::string_view name;
  int operands;
  Family family;
  Loop (*loop)(DType a, DType b);   // for operands of these types, which differ only where signedness does in compare
  bool swapped = false;             // a > b is b < a
};

// Integers as the unsigned type that wraps where they would overflow (narrow ones would be promoted to int); floats as
// themselves.
template <class T> struct WrapsAs { using type = T; };
template <class T> requires std::is_integral_v<T> struct WrapsAs<T> {
  using type = std::conditional_t<(sizeof(T) < 8), uint32_t, uint64_t>;
};
template <class T> using W = typename WrapsAs<T>::type;
template <class T> constexpr bool kReal = std::is_floating_point_v<T>;
template <class T> constexpr bool kFlag = std::is_same_v<T, bool>;
template <class T> constexpr bool kSigned = std::is_integral_v<T> && std::is_signed_v<T>;
template <class T> constexpr bool kUnsigned = std::is_unsigned_v<T> && !kFlag<T>;

struct Add { template <class T> static T of(T a, T b) { return T(W<T>(a) + W<T>(b)); } };
struct Sub { template <class T> static T of(T a, T b) { return T(W<T>(a) - W<T>(b)); } };
struct Mul { template <class T> static T of(T a, T b) { return T(W<T>(a) * W<T>(b)); } };
struct Minus { template <class T> static T of(T a) { return T(-W<T>(a)); } };
struct Abs {
  template <class T> static T of(T a) {
    if constexpr (kReal<T>) return std::abs(a);
    else if constexpr (kSigned<T>) return a < 0 ? T(-W<T>(a)) : a;
    else return a;
  }
};

struct Min { template <class T> static T of(T a, T b) { return a < b ? a : b; } };
struct Max { template <class T> static T of(T a, T b) { return a > b ? a : b; } };
struct Clamp {
  template <class T> static T of(T v, T low, T high) {
    v = v < low ? low : v;
    return high < v ? high : v;
  }
};

// Integers are truncated towards 0; the divisor is known not to be 0. Only the smallest number by -1 overflows: it wraps.
struct Div {
  template <class T> static T of(T a, T b) {
    if constexpr (kReal<T>) return a / b;
    else if constexpr (kSigned<T>) return b == T(-1) ? T(-W<T>(a)) : quotient(a, b == T(-1) ? T(1) : b);
    else return quotient(a, b);
  }
  // Processors have no vectors of integer division. With 32 bits the quotient of doubles is never rounded up to the
  // next whole number.
  template <class T> static T quotient(T a, T b) {
    if constexpr (sizeof(T) < 4 || std::is_same_v<T, int32_t>) return T(int32_t(double(a) / double(b)));
    else return T(a / b);
  }
};
struct Mod {
  template <class T> static T of(T a, T b) {
    if constexpr (kReal<T>) return std::fmod(a, b);
    else return T(W<T>(a) - W<T>(Div::of(a, b)) * W<T>(b));
  }
};
struct Pow {
  template <class T> static T of(T base, T exponent) {
    if constexpr (kReal<T>) {
      return std::pow(base, exponent);
    } else {
      if constexpr (kSigned<T>) if (exponent < 0) return 0;
      W<T> result = 1, square = W<T>(base);
      for (W<T> e = W<T>(exponent); e; e >>= 1, square *= square)
        if (e & 1) result *= square;
      return T(result);
    }
  }
};

struct And { template <class T> static T of(T a, T b) { return T(a & b); } };
struct Or { template <class T> static T of(T a, T b) { return T(a | b); } };
struct Xor { template <class T> static T of(T a, T b) { return T(a ^ b); } };
struct Not { template <class T> static T of(T a) { if constexpr (kFlag<T>) return !a; else return T(~a); } };

// Counts are taken modulo 32, or 64 for 64-bit numbers.
template <class T> constexpr unsigned kShiftMask = sizeof(T) < 8 ? 31 : 63;
struct LeftShift { template <class T> static T of(T a, T b) { return T(W<T>(a) << (W<T>(b) & kShiftMask<T>)); } };
struct RightShift {
  template <class T> static T of(T a, T b) {
    using Signed = std::conditional_t<sizeof(T) < 8, int32_t, int64_t>;
    if constexpr (kSigned<T>) return T(Signed(a) >> (W<T>(b) & kShiftMask<T>));
    else return T(W<T>(a) >> (W<T>(b) & kShiftMask<T>));
  }
};

struct Equal {
  template <class A, class B> static bool of(A a, B b) {
    if constexpr (std::is_same_v<A, B>) return a == b; else return std::cmp_equal(a, b);
  }
};
struct NotEqual { template <class A, class B> static bool of(A a, B b) { return !Equal::of(a, b); } };
struct Less {
  template <class A, class B> static bool of(A a, B b) {
    if constexpr (std::is_same_v<A, B>) return a < b; else return std::cmp_less(a, b);
  }
};
struct LessEqual {
  template <class A, class B> static bool of(A a, B b) {
    if constexpr (std::is_same_v<A, B>) return a <= b; else return std::cmp_less_equal(a, b);
  }
};

#define PS_REAL_FUNCTION(Name, expression) \
  struct Name { template <class T> static T of([[maybe_unused]] T x) { return T(expression); } };
PS_REAL_FUNCTION(Sqrt, std::sqrt(x))
PS_REAL_FUNCTION(Rsqrt, T(1) / std::sqrt(x))
PS_REAL_FUNCTION(Cbrt, std::cbrt(x))
PS_REAL_FUNCTION(Exp, std::exp(x))
PS_REAL_FUNCTION(Log, std::log(x))
PS_REAL_FUNCTION(Log2, std::log2(x))
PS_REAL_FUNCTION(Log10, std::log10(x))
PS_REAL_FUNCTION(Floor, std::floor(x))
PS_REAL_FUNCTION(Ceil, std::ceil(x))
PS_REAL_FUNCTION(Sin, std::sin(x))
PS_REAL_FUNCTION(Cos, std::cos(x))
PS_REAL_FUNCTION(Tan, std::tan(x))
PS_REAL_FUNCTION(Asin, std::asin(x))
PS_REAL_FUNCTION(Acos, std::acos(x))
PS_REAL_FUNCTION(Atan, std::atan(x))
PS_REAL_FUNCTION(Sinh, std::sinh(x))
PS_REAL_FUNCTION(Cosh, std::cosh(x))
PS_REAL_FUNCTION(Tanh, std::tanh(x))
PS_REAL_FUNCTION(Asinh, std::asinh(x))
PS_REAL_FUNCTION(Acosh, std::acosh(x))
PS_REAL_FUNCTION(Atanh, std::atanh(x))
#undef PS_REAL_FUNCTION
struct Atan2 { template <class T> static T of(T y, T x) { return std::atan2(y, x); } };

template <class F, class R, class A> void loop1(const void* const* in, void* out, size_t n) {
  const A* a = static_cast<const A*>(in[0]);
  R* __restrict to = static_cast<R*>(out);
  for (size_t i = 0; i < n; i++) to[i] = F::of(a[i]);
}
template <class F, class R, class A, class B> void loop2(const void* const* in, void* out, size_t n) {
  const A* a = static_cast<const A*>(in[0]);
  const B* b = static_cast<const B*>(in[1]);
  R* __restrict to = static_cast<R*>(out);
  for (size_t i = 0; i < n; i++) to[i] = F::of(a[i], b[i]);
}
template <class F, class R, class A> void loop3(const void* const* in, void* out, size_t n) {
  const A *a = static_cast<const A*>(in[0]), *b = static_cast<const A*>(in[1]), *c = static_cast<const A*>(in[2]);
  R* __restrict to = static_cast<R*>(out);
  for (size_t i = 0; i < n; i++) to[i] = F::of(a[i], b[i], c[i]);
}

// Types that a function has loops for. Half floats are computed as floats, and signed integers as unsigned ones where
// that gives the same bits.
struct Rings { template <class T> static constexpr bool has = kReal<T> || kUnsigned<T>; };
struct RingsAndFlags { template <class T> static constexpr bool has = kReal<T> || kUnsigned<T> || kFlag<T>; };
struct Numbers { template <class T> static constexpr bool has = kReal<T> || kUnsigned<T> || kSigned<T>; };
struct Bits { template <class T> static constexpr bool has = kUnsigned<T> || kFlag<T>; };
struct Integers { template <class T> static constexpr bool has = std::is_integral_v<T>; };
struct Reals { template <class T> static constexpr bool has = kReal<T>; };

// The loop for operands of one type; nullptr where the function has none.
template <class F, class Types, int operands> Loop same(DType t, DType) {
  return visit(t, [](auto tag) -> Loop {
    using T = typename decltype(tag)::type;
    if constexpr (!Types::template has<T>) return nullptr;
    else if constexpr (operands == 1) return loop1<F, T, T>;
    else if constexpr (operands == 2) return loop2<F, T, T, T>;
    else return loop3<F, T, T>;
  });
}

// The loop for a comparison: of one type, or of the two for which no third holds all values of both.
template <class F, class Types> Loop compared(DType a, DType b) {
  if (a == DType::u64 && b == DType::i64) return loop2<F, bool, uint64_t, int64_t>;
  if (a == DType::i64 && b == DType::u64) return loop2<F, bool, int64_t, uint64_t>;
  return visit(a, [](auto tag) -> Loop {
    using T = typename decltype(tag)::type;
    if constexpr (Types::template has<T>) return loop2<F, bool, T, T>;
    else return nullptr;
  });
}

// Names as in DALI.
inline constexpr Function kFunctions[] = {
    {"add", 2, Family::ring, same<Add, Rings, 2>},
    {"sub", 2, Family::ring, same<Sub, Rings, 2>},
    {"mul", 2, Family::ring, same<Mul, RingsAndFlags, 2>},
    {"minus", 1, Family::ring, same<Minus, Rings, 1>},
    {"abs", 1, Family::ordered, same<Abs, Numbers, 1>},
    {"min", 2, Family::ordered, same<Min, Numbers, 2>},
    {"max", 2, Family::ordered, same<Max, Numbers, 2>},
    {"clamp", 3, Family::ordered, same<Clamp, Numbers, 3>},
    {"div", 2, Family::ordered, same<Div, Numbers, 2>},
    {"mod", 2, Family::ordered, same<Mod, Numbers, 2>},
    {"pow", 2, Family::ordered, same<Pow, Numbers, 2>},
    {"bitand", 2, Family::bits, same<And, Bits, 2>},
    {"bitor", 2, Family::bits, same<Or, Bits, 2>},
    {"bitxor", 2, Family::bits, same<Xor, Bits, 2>},
    {"bitnot", 1, Family::bits, same<Not, Bits, 1>},
    {"lshift", 2, Family::shift, same<LeftShift, Integers, 2>},
    {"rshift", 2, Family::shift, same<RightShift, Integers, 2>},
    {"eq", 2, Family::compare, compared<Equal, Numbers>},
    {"neq", 2, Family::compare, compared<NotEqual, Numbers>},
    {"lt", 2, Family::compare, compared<Less, Numbers>},
    {"leq", 2, Family::compare, compared<LessEqual, Numbers>},
    {"gt", 2, Family::compare, compared<Less, Numbers>, true},
    {"geq", 2, Family::compare, compared<LessEqual, Numbers>, true},
    {"fdiv", 2, Family::real, same<Div, Reals, 2>},
    {"fpow", 2, Family::real, same<Pow, Reals, 2>},
    {"atan2", 2, Family::real, same<Atan2, Reals, 2>},
    {"fabs", 1, Family::real, same<Abs, Reals, 1>},
    {"sqrt", 1, Family::real, same<Sqrt, Reals, 1>},
    {"rsqrt", 1, Family::real, same<Rsqrt, Reals, 1>},
    {"cbrt", 1, Family::real, same<Cbrt, Reals, 1>},
    {"exp", 1, Family::real, same<Exp, Reals, 1>},
    {"log", 1, Family::real, same<Log, Reals, 1>},
    {"log2", 1, Family::real, same<Log2, Reals, 1>},
    {"log10", 1, Family::real, same<Log10, Reals, 1>},
    {"floor", 1, Family::real, same<Floor, Reals, 1>},
    {"ceil", 1, Family::real, same<Ceil, Reals, 1>},
    {"sin", 1, Family::real, same<Sin, Reals, 1>},
    {"cos", 1, Family::real, same<Cos, Reals, 1>},
    {"tan", 1, Family::real, same<Tan, Reals, 1>},
    {"asin", 1, Family::real, same<Asin, Reals, 1>},
    {"acos", 1, Family::real, same<Acos, Reals, 1>},
    {"atan", 1, Family::real, same<Atan, Reals, 1>},
    {"sinh", 1, Family::real, same<Sinh, Reals, 1>},
    {"cosh", 1, Family::real, same<Cosh, Reals, 1>},
    {"tanh", 1, Family::real, same<Tanh, Reals, 1>},
    {"asinh", 1, Family::real, same<Asinh, Reals, 1>},
    {"acosh", 1, Family::real, same<Acosh, Reals, 1>},
    {"atanh", 1, Family::real, same<Atanh, Reals, 1>},
};

inline const Function& function(std::string_view name) {
  for (const Function& f : kFunctions)
    if (f.name == name) return f;
  fail(ErrorKind::internal, "no function is named '" + std::string(name) + "'");
}

}  // namespace ps::arithmetic
