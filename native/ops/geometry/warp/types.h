// The types that affine warps read and write.
#pragma once

#include <string>
#include <type_traits>

#include "core/error.h"
#include "core/tensor.h"

namespace ps {

// Calls f(in, out) with the types that warps have: the same, or FLOAT on one side.
template <class F> decltype(auto) visit_warp(DType in, DType out, F&& f) {
  const auto from = [&](auto tag) {
    if (in == out) return f(tag, tag);
    if (out == DType::f32) return f(tag, std::type_identity<float>{});
    if (in == DType::f32) {
      const std::type_identity<float> real;
      if (out == DType::u8) return f(real, std::type_identity<uint8_t>{});
      if (out == DType::i16) return f(real, std::type_identity<int16_t>{});
      if (out == DType::i32) return f(real, std::type_identity<int32_t>{});
    }
    const char* others = in == DType::f32 ? ", or UINT8, INT16 or INT32; got " : ", or FLOAT; got ";
    fail(ErrorKind::type, std::string("dtype: expected the input's type, ") + name_of(in) + others + name_of(out));
  };
  switch (in) {
    case DType::u8: return from(std::type_identity<uint8_t>{});
    case DType::i16: return from(std::type_identity<int16_t>{});
    case DType::i32: return from(std::type_identity<int32_t>{});
    case DType::f32: return from(std::type_identity<float>{});
    default: fail(ErrorKind::type, std::string("expected UINT8, INT16, INT32 or FLOAT, got ") + name_of(in));
  }
}

}  // namespace ps
