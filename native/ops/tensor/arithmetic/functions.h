// The element-wise functions, as loops over a block of elements of one type.
#pragma once

#include <string_view>

#include "core/convert.h"
#include "core/converter.h"
#include "cuda/record/functor.h"
#include "device/tensor/functions.h"

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
  std::string_view type;            // "ps::device::Add"
  int operands;
  Family family;
  Loop (*loop)(DType a, DType b);   // for operands of these types, which differ only where signedness does in compare
  bool swapped = false;             // a > b is b < a
};

using device::kFlag, device::kReal, device::kSigned, device::kUnsigned;

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
    {"add", PS_DEVICE_TYPE(Add), 2, Family::ring, same<device::Add, Rings, 2>},
    {"sub", PS_DEVICE_TYPE(Sub), 2, Family::ring, same<device::Sub, Rings, 2>},
    {"mul", PS_DEVICE_TYPE(Mul), 2, Family::ring, same<device::Mul, RingsAndFlags, 2>},
    {"minus", PS_DEVICE_TYPE(Minus), 1, Family::ring, same<device::Minus, Rings, 1>},
    {"abs", PS_DEVICE_TYPE(Abs), 1, Family::ordered, same<device::Abs, Numbers, 1>},
    {"min", PS_DEVICE_TYPE(Min), 2, Family::ordered, same<device::Min, Numbers, 2>},
    {"max", PS_DEVICE_TYPE(Max), 2, Family::ordered, same<device::Max, Numbers, 2>},
    {"clamp", PS_DEVICE_TYPE(Clamp), 3, Family::ordered, same<device::Clamp, Numbers, 3>},
    {"div", PS_DEVICE_TYPE(Div), 2, Family::ordered, same<device::Div, Numbers, 2>},
    {"mod", PS_DEVICE_TYPE(Mod), 2, Family::ordered, same<device::Mod, Numbers, 2>},
    {"pow", PS_DEVICE_TYPE(Pow), 2, Family::ordered, same<device::Pow, Numbers, 2>},
    {"bitand", PS_DEVICE_TYPE(And), 2, Family::bits, same<device::And, Bits, 2>},
    {"bitor", PS_DEVICE_TYPE(Or), 2, Family::bits, same<device::Or, Bits, 2>},
    {"bitxor", PS_DEVICE_TYPE(Xor), 2, Family::bits, same<device::Xor, Bits, 2>},
    {"bitnot", PS_DEVICE_TYPE(Not), 1, Family::bits, same<device::Not, Bits, 1>},
    {"lshift", PS_DEVICE_TYPE(LeftShift), 2, Family::shift, same<device::LeftShift, Integers, 2>},
    {"rshift", PS_DEVICE_TYPE(RightShift), 2, Family::shift, same<device::RightShift, Integers, 2>},
    {"eq", PS_DEVICE_TYPE(Equal), 2, Family::compare, compared<device::Equal, Numbers>},
    {"neq", PS_DEVICE_TYPE(NotEqual), 2, Family::compare, compared<device::NotEqual, Numbers>},
    {"lt", PS_DEVICE_TYPE(Less), 2, Family::compare, compared<device::Less, Numbers>},
    {"leq", PS_DEVICE_TYPE(LessEqual), 2, Family::compare, compared<device::LessEqual, Numbers>},
    {"gt", PS_DEVICE_TYPE(Less), 2, Family::compare, compared<device::Less, Numbers>, true},
    {"geq", PS_DEVICE_TYPE(LessEqual), 2, Family::compare, compared<device::LessEqual, Numbers>, true},
    {"fdiv", PS_DEVICE_TYPE(Div), 2, Family::real, same<device::Div, Reals, 2>},
    {"fpow", PS_DEVICE_TYPE(Pow), 2, Family::real, same<device::Pow, Reals, 2>},
    {"atan2", PS_DEVICE_TYPE(Atan2), 2, Family::real, same<device::Atan2, Reals, 2>},
    {"fabs", PS_DEVICE_TYPE(Abs), 1, Family::real, same<device::Abs, Reals, 1>},
    {"sqrt", PS_DEVICE_TYPE(Sqrt), 1, Family::real, same<device::Sqrt, Reals, 1>},
    {"rsqrt", PS_DEVICE_TYPE(Rsqrt), 1, Family::real, same<device::Rsqrt, Reals, 1>},
    {"cbrt", PS_DEVICE_TYPE(Cbrt), 1, Family::real, same<device::Cbrt, Reals, 1>},
    {"exp", PS_DEVICE_TYPE(Exp), 1, Family::real, same<device::Exp, Reals, 1>},
    {"log", PS_DEVICE_TYPE(Log), 1, Family::real, same<device::Log, Reals, 1>},
    {"log2", PS_DEVICE_TYPE(Log2), 1, Family::real, same<device::Log2, Reals, 1>},
    {"log10", PS_DEVICE_TYPE(Log10), 1, Family::real, same<device::Log10, Reals, 1>},
    {"floor", PS_DEVICE_TYPE(Floor), 1, Family::real, same<device::Floor, Reals, 1>},
    {"ceil", PS_DEVICE_TYPE(Ceil), 1, Family::real, same<device::Ceil, Reals, 1>},
    {"sin", PS_DEVICE_TYPE(Sin), 1, Family::real, same<device::Sin, Reals, 1>},
    {"cos", PS_DEVICE_TYPE(Cos), 1, Family::real, same<device::Cos, Reals, 1>},
    {"tan", PS_DEVICE_TYPE(Tan), 1, Family::real, same<device::Tan, Reals, 1>},
    {"asin", PS_DEVICE_TYPE(Asin), 1, Family::real, same<device::Asin, Reals, 1>},
    {"acos", PS_DEVICE_TYPE(Acos), 1, Family::real, same<device::Acos, Reals, 1>},
    {"atan", PS_DEVICE_TYPE(Atan), 1, Family::real, same<device::Atan, Reals, 1>},
    {"sinh", PS_DEVICE_TYPE(Sinh), 1, Family::real, same<device::Sinh, Reals, 1>},
    {"cosh", PS_DEVICE_TYPE(Cosh), 1, Family::real, same<device::Cosh, Reals, 1>},
    {"tanh", PS_DEVICE_TYPE(Tanh), 1, Family::real, same<device::Tanh, Reals, 1>},
    {"asinh", PS_DEVICE_TYPE(Asinh), 1, Family::real, same<device::Asinh, Reals, 1>},
    {"acosh", PS_DEVICE_TYPE(Acosh), 1, Family::real, same<device::Acosh, Reals, 1>},
    {"atanh", PS_DEVICE_TYPE(Atanh), 1, Family::real, same<device::Atanh, Reals, 1>},
};

inline const Function& function(std::string_view name) {
  for (const Function& f : kFunctions)
    if (f.name == name) return f;
  fail(ErrorKind::internal, "no function is named '" + std::string(name) + "'");
}

}  // namespace ps::arithmetic
