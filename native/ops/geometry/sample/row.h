// Pixels that are read at any positions, on the CPU: a few of a row at a time.
#pragma once

#include <string>
#include <type_traits>

#include "core/error.h"
#include "core/tensor.h"
#include "device/geometry/sample.h"

namespace ps {

// Columns that are done row after row: what slanting rows of them read stays in the first cache.
inline constexpr int64_t kSampleColumns = 64;

// Calls f(tag) for the types that pixels may have.
template <class F> decltype(auto) visit_sampled(DType t, F&& f) {
  switch (t) {
    case DType::u8: return f(std::type_identity<uint8_t>{});
    case DType::u16: return f(std::type_identity<uint16_t>{});
    case DType::i16: return f(std::type_identity<int16_t>{});
    case DType::f32: return f(std::type_identity<float>{});
    default:
      fail(ErrorKind::type, std::string("the input is ") + name_of(t) + ": expected UINT8, UINT16, INT16 or FLOAT");
  }
}

// n pixels, at most kSampleColumns, of a plane; `fills` are its channels'.
using SampleRow = void (*)(const device::SampleFields& f, const void* plane, const device::Position<2>* positions,
                           int64_t n, const float* fills, void* out);

// For pixels of this type and the fields' number of channels. Each kTaps is compiled in a unit of its own.
template <int kTaps> SampleRow sample_row(DType type, const device::SampleFields& f);

}  // namespace ps
