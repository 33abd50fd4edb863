// Which type an operation is computed in, and which it gives: DALI's rules of promotion.
#pragma once

#include <algorithm>

#include "ops/tensor/arithmetic/functions.h"

namespace ps::arithmetic {

// What is done with operands of given types: each is converted to `compute`, the loop gives `result`, which is
// converted to `out`. Where two of these have the same bits there is nothing to convert.
struct Evaluation {
  DType compute[3], result, out;
  Loop loop;
  bool integer_division = false;
};

constexpr bool is_unsigned(DType t) { return t >= DType::u8 && t <= DType::u64; }
constexpr bool is_signed(DType t) { return t >= DType::i8 && t <= DType::i64; }
constexpr DType unsigned_of(DType t) { return is_signed(t) ? DType(int(t) - 4) : t; }

// The type of a result of two types:
// - booleans take the other type, integers a float's, and of two floats or integers of one kind the wider one is it;
// - of an unsigned and a signed integer: the signed one if it is wider, else the signed one twice as wide as the
//   unsigned one, 64 bits being the most.
constexpr DType promote(DType a, DType b) {
  if (a == b || b == DType::boolean) return a;
  if (a == DType::boolean) return b;
  if (is_float(a) || is_float(b) || is_unsigned(a) == is_unsigned(b)) return std::max(a, b);
  if (is_unsigned(b)) std::swap(a, b);
  return std::max(b, std::min(DType(int(a) + 5), DType::i64));
}

// Whether elements of one type are elements of the other as they are.
constexpr bool same_bits(DType a, DType b) {
  return a == b || (!is_float(a) && !is_float(b) && size_of(a) == size_of(b) && a != DType::boolean);
}

[[noreturn]] inline void fail_types(const DType* types, int n, const char* expected) {
  std::string list;
  for (int i = 0; i < n; i++) list += (i ? ", " : "") + std::string(name_of(types[i]));
  fail(ErrorKind::type, std::string("expected ") + expected + ", got " + list);
}

inline Evaluation evaluation(const Function& f, const DType* types) {
  const int n = f.operands;
  Evaluation e;
  DType common = types[0];
  for (int i = 0; i < n; i++) {
    visit(types[i], [](auto) {});                  // refuses what is no number
    common = promote(common, types[i]);
  }
  if ((f.family == Family::bits || f.family == Family::shift) && is_float(common))
    fail_types(types, n, "integers or booleans");
  e.out = f.family == Family::real && !is_float(common) && common != DType::boolean ? DType::f32 : common;
  DType compute = e.out == DType::f16 ? DType::f32 : e.out;
  if (f.family == Family::compare) {
    e.out = DType::boolean;
    if (compute == DType::boolean) compute = DType::u8;
  }
  const bool division = f.name == "div" || f.name == "mod";
  e.integer_division = division && !is_float(compute);
  // The remainder of a large integer is exact in doubles alone.
  if (f.name == "mod" && compute == DType::f32 && std::any_of(types, types + n, [](DType t) { return !is_float(t); }))
    compute = DType::f64;
  std::fill(e.compute, e.compute + 3, compute);
  if (f.family == Family::compare && compute == DType::i64)
    for (int i = 0; i < n; i++)
      if (types[i] == DType::u64) e.compute[i] = DType::u64;
  e.result = f.family == Family::compare ? DType::boolean : compute;
  const bool wraps = f.family == Family::ring || f.family == Family::bits;
  e.loop = wraps ? f.loop(unsigned_of(compute), unsigned_of(compute)) : f.loop(e.compute[0], e.compute[n - 1]);
  if (!e.loop)
    fail_types(types, n, "a number among the operands: of booleans alone there are & | ^ ~ * << >> and comparisons");
  return e;
}

}  // namespace ps::arithmetic
