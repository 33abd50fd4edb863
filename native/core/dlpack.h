// The structs of DLPack, the ABI through which array libraries share memory: https://dmlc.github.io/dlpack.
#pragma once

#include <cstdint>

#include "core/tensor.h"

namespace ps {

struct DLDevice {
  int32_t type, id;
};

struct DLDataType {
  uint8_t code, bits;
  uint16_t lanes;
};

struct DLTensor {
  void* data;
  DLDevice device;
  int32_t ndim;
  DLDataType dtype;
  int64_t *shape, *strides;
  uint64_t byte_offset;
};

struct DLManagedTensor {
  DLTensor tensor;
  void* context;
  void (*deleter)(DLManagedTensor*);
};

struct DLManagedTensorVersioned {
  uint32_t major, minor;
  void* context;
  void (*deleter)(DLManagedTensorVersioned*);
  uint64_t flags;
  DLTensor tensor;
};

constexpr int32_t kDLCpu = 1, kDLCuda = 2;
// Of capsules that hold a tensor of the first or the second form, and of those whose tensor was taken.
constexpr const char *kDLName = "dltensor", *kDLNameVersioned = "dltensor_versioned";
constexpr const char *kDLUsedName = "used_dltensor", *kDLUsedNameVersioned = "used_dltensor_versioned";

enum : uint8_t { kDLInt = 0, kDLUInt = 1, kDLFloat = 2, kDLBool = 6 };

inline DLDataType dlpack_type(DType t) {
  const auto bits = uint8_t(size_of(t) * 8);
  if (is_float(t)) return {kDLFloat, bits, 1};
  if (t == DType::boolean) return {kDLBool, bits, 1};
  const bool is_signed = t == DType::i8 || t == DType::i16 || t == DType::i32 || t == DType::i64;
  return {is_signed ? kDLInt : kDLUInt, bits, 1};
}

// DType::none: tensors have no such elements.
inline DType type_of(DLDataType wanted) {
  for (DType t : {DType::u8, DType::u16, DType::u32, DType::u64, DType::i8, DType::i16, DType::i32, DType::i64,
                  DType::f16, DType::f32, DType::f64, DType::boolean}) {
    const DLDataType one = dlpack_type(t);
    if (one.code == wanted.code && one.bits == wanted.bits && one.lanes == wanted.lanes) return t;
  }
  return DType::none;
}

// A tensor's dense elements in the members of a DLTensor.
struct DLDense {
  int64_t shape[kMaxDims], strides[kMaxDims];

  DLTensor describe(const Tensor& t, DLDevice device) {
    int64_t stride = 1;
    for (int i = t.shape.ndim; i-- > 0;) {
      shape[i] = t.shape[i];
      strides[i] = stride;
      stride *= t.shape[i];
    }
    return {t.data, device, t.shape.ndim, dlpack_type(t.dtype), shape, strides, 0};
  }
};

inline bool is_dense(const DLTensor& t) {
  int64_t expected = 1;
  for (int i = 0; i < t.ndim; i++)
    if (t.shape[i] == 0) return true;
  for (int i = t.ndim; t.strides && i-- > 0; expected *= t.shape[i])
    if (t.shape[i] != 1 && t.strides[i] != expected) return false;
  return true;
}

}  // namespace ps
