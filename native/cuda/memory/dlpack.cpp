#include "cuda/memory/dlpack.h"

#include <dlfcn.h>
#include <unistd.h>

#include <memory>

#include "core/dlpack.h"

namespace ps::gpu {
namespace {

constexpr uint64_t kIsCopied = 2;

// What a consumer holds: `managed` in the form asked for, and all that it points to.
template <class Managed> struct Export {
  Managed managed{};
  DeviceBufferRef buffer;
  pid_t process = getpid();
  DLDense dense;

  Export(DeviceBufferRef b, const Tensor& t) : buffer(std::move(b)) {
    managed.tensor = dense.describe(t, {kDLCuda, buffer->device()->number()});
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
  if (!versioned) return {&(new Export<DLManagedTensor>(std::move(buffer), tensor))->managed, kDLName};
  auto* e = new Export<DLManagedTensorVersioned>(std::move(buffer), tensor);
  e->managed.major = 1;
  e->managed.flags = copied ? kIsCopied : 0;
  return {&e->managed, kDLNameVersioned};
}

void dlpack_capsule_destructor(void* capsule) {
  // Of the Python that calls this: the library itself is linked with none.
  static const auto is_valid = reinterpret_cast<int (*)(void*, const char*)>(dlsym(RTLD_DEFAULT, "PyCapsule_IsValid"));
  using GetPointer = void* (*)(void*, const char*);
  static const auto pointer = reinterpret_cast<GetPointer>(dlsym(RTLD_DEFAULT, "PyCapsule_GetPointer"));
  if (!is_valid || !pointer) return;
  if (is_valid(capsule, kDLName)) drop<DLManagedTensor>(pointer(capsule, kDLName));
  if (is_valid(capsule, kDLNameVersioned)) drop<DLManagedTensorVersioned>(pointer(capsule, kDLNameVersioned));
}

}  // namespace ps::gpu
