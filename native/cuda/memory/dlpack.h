// DLPack, the ABI through which array libraries share memory: https://dmlc.github.io/dlpack. Our side of it, for memory
// of a GPU.
#pragma once

#include "core/tensor.h"
#include "cuda/memory/device_buffer.h"

namespace ps::gpu {

struct Exported {
  void* managed;                // a DLManagedTensor, or a DLManagedTensorVersioned
  const char* capsule;          // the name that its capsule has
};

// A tensor for a consumer, which borrows the buffer and calls the tensor's deleter from any thread. `versioned`: in the
// form of DLPack 1.0, which can also say that the memory is a copy of the consumer's own (`copied`).
Exported dlpack_export(DeviceBufferRef buffer, const Tensor& tensor, bool versioned, bool copied);

// The destructor of a PyCapsule of the above: deletes the tensor, unless a consumer has taken it.
void dlpack_capsule_destructor(void* capsule);

}  // namespace ps::gpu
