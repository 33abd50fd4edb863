// One sample of one value: where its elements are, their type, shape and layout.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "include/penstock/operator.h"

namespace ps {

// The numbers are those of DALI's DALIDataType: users pass them as plain integers too.
enum class DType : int32_t {
  none = PENSTOCK_NO_TYPE,
  u8 = PENSTOCK_UINT8, u16 = PENSTOCK_UINT16, u32 = PENSTOCK_UINT32, u64 = PENSTOCK_UINT64,
  i8 = PENSTOCK_INT8, i16 = PENSTOCK_INT16, i32 = PENSTOCK_INT32, i64 = PENSTOCK_INT64,
  f16 = PENSTOCK_FLOAT16, f32 = PENSTOCK_FLOAT, f64 = PENSTOCK_FLOAT64, boolean = PENSTOCK_BOOL,
};

constexpr size_t size_of(DType t) {
  switch (t) {
    case DType::u8: case DType::i8: case DType::boolean: return 1;
    case DType::u16: case DType::i16: case DType::f16: return 2;
    case DType::u32: case DType::i32: case DType::f32: return 4;
    case DType::u64: case DType::i64: case DType::f64: return 8;
    default: return 0;
  }
}

constexpr bool is_float(DType t) { return t == DType::f16 || t == DType::f32 || t == DType::f64; }
const char* name_of(DType t);   // "UINT8", as DALI prints it

inline constexpr int kMaxDims = PENSTOCK_MAX_DIMS;

struct Shape {
  int32_t ndim = 0;
  int64_t dims[kMaxDims] = {};

  Shape() = default;
  Shape(std::initializer_list<int64_t> d) { for (int64_t v : d) dims[ndim++] = v; }
  int64_t& operator[](int i) { return dims[i]; }
  int64_t operator[](int i) const { return dims[i]; }
  void push(int64_t d) { dims[ndim++] = d; }
  int64_t volume() const {
    uint64_t v = 1;                                  // may wrap around where a tensor is yet to be refused
    for (int i = 0; i < ndim; i++) v *= uint64_t(dims[i]);
    return int64_t(v);
  }
  bool operator==(const Shape& o) const {
    return ndim == o.ndim && std::memcmp(dims, o.dims, sizeof(int64_t) * size_t(ndim)) == 0;
  }
};
std::string to_string(const Shape& s);   // "(375, 500, 3)"

// Axis names such as "HWC"; empty where the axes have none.
struct Layout {
  char axes[kMaxDims + 1] = {};
  Layout() = default;
  Layout(std::string_view s) { std::memcpy(axes, s.data(), s.size() < kMaxDims ? s.size() : kMaxDims); }
  Layout(const char* s) : Layout(std::string_view(s)) {}
  std::string_view view() const { return axes; }
  bool empty() const { return axes[0] == 0; }
  int find(char axis) const { const char* p = axis ? std::strchr(axes, axis) : nullptr; return p ? int(p - axes) : -1; }
  bool operator==(const Layout& o) const { return view() == o.view(); }
};

struct Tensor {
  void* data = nullptr;
  DType dtype = DType::none;
  Shape shape;
  Layout layout;
  const char* source = nullptr;   // the file that it came from, for errors and source_info()

  // Of a shape that no memory can hold: so many that any request for them is refused.
  static constexpr size_t kTooManyBytes = size_t(1) << 50;
  size_t bytes() const {
    size_t n = size_of(dtype);
    bool fits = true;
    for (int i = 0; i < shape.ndim; i++) {
      if (shape[i] == 0) return 0;
      fits &= !__builtin_mul_overflow(n, size_t(shape[i]), &n) && n <= kTooManyBytes;
    }
    return fits ? n : kTooManyBytes;
  }
  template <class T> T* as() const { return static_cast<T*>(data); }
  // Whether there can be such a tensor: its type is known, and no extent, nor any product of some, is too large.
  bool is_sound() const {
    size_t n = size_of(dtype);
    bool sound = n > 0 && shape.ndim >= 0 && shape.ndim <= kMaxDims;
    for (int i = 0; sound && i < shape.ndim; i++)
      sound = shape[i] >= 0 && !__builtin_mul_overflow(n, size_t(std::max<int64_t>(shape[i], 1)), &n) &&
              n < kTooManyBytes;
    return sound;
  }
};
void check_sound(const Tensor& t);   // or an Error that says what is wrong

}  // namespace ps
