// What is given from outside for one value and one iteration.
#pragma once

#include <memory>
#include <vector>

#include "core/memory.h"
#include "core/texts.h"
#include "cuda/memory/device_buffer.h"

namespace ps {

struct Fed {
  std::vector<Tensor> samples;
  BufferRef memory;      // of a copy: the one block that the samples lie in
  gpu::DeviceBufferRef buffer;   // of device memory
  std::vector<int64_t> integers;
  Texts sources;         // copies of the names that the samples point at
};
using FedRef = std::shared_ptr<const Fed>;

// Samples in the host's memory: copied into the pool; or where they are, kept there by the caller while they
// are in use, and without the padding that the pool's blocks have.
FedRef feed_copy(Pool& pool, std::vector<Tensor> samples);
FedRef feed_room(Pool& pool, std::vector<Tensor> samples);   // whose contents are yet to be written
FedRef feed_in_place(std::vector<Tensor> samples);
FedRef feed_integers(const int64_t* values, int n);      // scalars, copied to memory of their own: waits for nothing

// Samples in device memory, which are there when the buffer says so and `stream` has got this far. A copy is put into
// this stream: what the producer puts there later comes after it; or is waited for, where the producer's stream is not
// known.
FedRef feed_device(const gpu::DeviceBufferRef& buffer, std::vector<Tensor> samples, bool copy, gpu::CUstream stream,
                   bool wait);
// From the host to the device. The host's samples are free on return.
FedRef feed_upload(gpu::DeviceRef device, const std::vector<Tensor>& samples, gpu::CUstream stream);

}  // namespace ps
