// What the C ABI's parts share: tensors across it, and batches.
#pragma once

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include "cuda/memory/device_buffer.h"
#include "penstock.h"
#include "run/batch.h"

struct ps_gpu_memory {
  ps::gpu::DeviceBufferRef buffer;
};

struct ps_batch {
  std::shared_ptr<ps::Batch> batch;
  std::vector<ps::BufferRef> kept = {};          // what a Python function was shown: it may keep that for longer
  std::shared_ptr<const ps::gpu::Stream> stream = nullptr;   // and what it works in
};

struct ps_fed {
  ps::FedRef fed;
};

namespace ps {

inline Tensor from_c(const ps_tensor& c) {
  Tensor t;
  if (c.ndim < 0 || c.ndim > PS_MAX_DIMS)
    fail(ErrorKind::argument, std::to_string(c.ndim) + " axes; at most " + std::to_string(PS_MAX_DIMS) + " can be");
  t.data = c.data;
  t.dtype = DType(c.dtype);
  t.shape.ndim = c.ndim;
  std::copy(c.shape, c.shape + c.ndim, t.shape.dims);
  t.layout = Layout(c.layout);
  t.source = c.source;
  check_sound(t);
  return t;
}

inline std::vector<Tensor> from_c(const ps_tensor* samples, int n) {
  std::vector<Tensor> tensors;
  for (int i = 0; i < n; i++) tensors.push_back(from_c(samples[i]));
  return tensors;
}

inline ps_tensor to_c(const Tensor& t) {
  ps_tensor c{};
  c.data = t.data;
  c.dtype = int32_t(t.dtype);
  c.ndim = t.shape.ndim;
  std::copy(t.shape.dims, t.shape.dims + t.shape.ndim, c.shape);
  std::memcpy(c.layout, t.layout.axes, sizeof t.layout.axes);
  c.source = t.source;
  return c;
}

}  // namespace ps
