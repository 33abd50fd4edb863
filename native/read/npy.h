// The header of NumPy's .npy files: what the array is that follows it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/error.h"
#include "core/tensor.h"

namespace ps {

struct NpyHeader {
  DType dtype = DType::none;
  bool swapped = false;                  // the bytes of numbers are the other way round than this machine's
  bool fortran = false;                  // the first axis is the innermost
  Shape shape;
  int64_t begin = 0;                     // of the elements, in the file

  size_t bytes() const {
    Tensor t;
    t.dtype = dtype, t.shape = shape;
    return t.bytes();
  }
};

inline constexpr size_t kNpyFirst = 12;  // bytes that tell how long the header is

// How many bytes the header has, given the first ones of the file. Throws Error(kind) where it is no such file.
size_t npy_header_bytes(const uint8_t* data, size_t size, ErrorKind kind);
// Given so many bytes, or more. Throws Error(kind).
NpyHeader read_npy_header(const uint8_t* data, size_t size, ErrorKind kind);

// Turns the bytes of each number around, in place.
void swap_bytes(void* data, size_t element, size_t count);

}  // namespace ps
