// The types that are normalized.
#pragma once

#include <string>
#include <type_traits>

#include "core/error.h"
#include "core/half.h"
#include "core/tensor.h"

namespace ps {

// Calls f(input tag, output tag) for the types that are supported.
template <class F> decltype(auto) visit_types(DType input, DType output, F&& f) {
  const auto with_output = [&](auto from) {
    switch (output) {
      case DType::u8: return f(from, std::type_identity<uint8_t>{});
      case DType::i8: return f(from, std::type_identity<int8_t>{});
      case DType::f16: return f(from, std::type_identity<half>{});
      default: return f(from, std::type_identity<float>{});
    }
  };
  switch (input) {
    case DType::u8: return with_output(std::type_identity<uint8_t>{});
    case DType::u16: return with_output(std::type_identity<uint16_t>{});
    case DType::i16: return with_output(std::type_identity<int16_t>{});
    case DType::i32: return with_output(std::type_identity<int32_t>{});
    case DType::f16: return with_output(std::type_identity<half>{});
    case DType::f32: return with_output(std::type_identity<float>{});
    default:
      fail(ErrorKind::type, std::string("the input is ") + name_of(input) +
                                ": expected UINT8, UINT16, INT16, INT32, FLOAT16 or FLOAT");
  }
}

}  // namespace ps
