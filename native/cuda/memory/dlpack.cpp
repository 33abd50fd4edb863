#include "cuda/memory/dlpack.h"

#include <dlfcn.h>
#include <unistd.h>

#include <memory>

namespace ps::gpu {
namespace {

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

constexpr int32_t kCuda = 2;
constexpr uint64_t kIsCopied = 2;
constexpr const char *kName = "dltensor", *kNameVersioned = "dltensor_versioned";

DLDataType dlpack_type(DType t) {
  enum : uint8_t { kInt = 0, kUInt = 1, kFloat = 2, kBool = 6 };
  const auto bits = uint8_t(size_of(t) * 8);
  if (is_float(t)) return {kFloat, bits, 1};
  if (t == DType::boolean) return {kBool, bits, 1};
  const bool is_signed = t == DType::i8 || t == DType::i16 || t == DType::i32 || t == DType::i64;
  return {is_signed ? kInt : kUInt, bits, 1};
}

// What a consumer holds: `managed` in the form asked for, and all that it points to.
template <class Managed> struct Export {
  Managed managed{};
  DeviceBufferRef buffer;
  pid_t process = getpid();
  int64_t shape[kMaxDims], strides[kMaxDims];

  Export(DeviceBufferRef b, const Tensor& t) : buffer(std::move(b)) {
    int64_t stride = 1;
    for (int i = t.shape.ndim; i-- > 0;) {
      shape[i] = t.shape[i];
      strides[i] = stride;
      stride *= t.shape[i];
    }
    const int device = buffer->device()->number();
    managed.tensor = {t.data, {kCuda, device}, t.shape.ndim, dlpack_type(t.dtype), shape, strides, 0};
    managed.context = this;
    managed.deleter = [](Managed* m) {
      auto* self = static_cast<Export*>(m->context);
      if (self->process == getpid()) delete self;    // a forked child has no GPU, nor the threads that hold our locks
    };
  }
};

template <class Managed> void drop(void* p) {
  auto* managed = static_cast<Managed*>(p);
  if (managed) managed->deleter(managed);
}

}  // namespace

Exported dlpack_export(DeviceBufferRef buffer, const Tensor& tensor, bool versioned, bool copied) {
  buffer->lend();
  if (!versioned) return {&(new Export<DLManagedTensor>(std::move(buffer), tensor))->managed, kName};
  auto* e = new Export<DLManagedTensorVersioned>(std::move(buffer), tensor);
  e->managed.major = 1;
  e->managed.flags = copied ? kIsCopied : 0;
  return {&e->managed, kNameVersioned};
}

void dlpack_capsule_destructor(void* capsule) {
  // Of the Python that calls this: the library itself is linked with none.
  static const auto is_valid = reinterpret_cast<int (*)(void*, const char*)>(dlsym(RTLD_DEFAULT, "PyCapsule_IsValid"));
  using GetPointer = void* (*)(void*, const char*);
  static const auto pointer = reinterpret_cast<GetPointer>(dlsym(RTLD_DEFAULT, "PyCapsule_GetPointer"));
  if (!is_valid || !pointer) return;
  if (is_valid(capsule, kName)) drop<DLManagedTensor>(pointer(capsule, kName));
  if (is_valid(capsule, kNameVersioned)) drop<DLManagedTensorVersioned>(pointer(capsule, kNameVersioned));
}

}  // namespace ps::gpu
