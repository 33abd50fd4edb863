#include "run/fed.h"

#include <algorithm>
#include <cstring>

#include "core/rows.h"

namespace ps {
namespace {

size_t total_bytes(const std::vector<Tensor>& samples) {
  size_t total = 0;
  for (const Tensor& t : samples) total += t.bytes();
  return total;
}

// Copies the samples one behind the other.
void pack(const std::vector<Tensor>& samples, uint8_t* to) {
  for (const Tensor& t : samples) {
    if (t.bytes()) std::memcpy(to, t.data, t.bytes());
    to += t.bytes();
  }
}

// Says that the samples lie one behind the other from here on.
void place(std::vector<Tensor>& samples, uint8_t* at) {
  for (Tensor& t : samples) {
    t.data = at;
    at += t.bytes();
  }
}

std::shared_ptr<Fed> fed_of(std::vector<Tensor> samples) {
  auto fed = std::make_shared<Fed>();
  fed->samples = std::move(samples);
  for (Tensor& t : fed->samples)
    if (t.source) t.source = fed->sources.keep(t.source);
  return fed;
}

gpu::CUdeviceptr address(const void* p) { return reinterpret_cast<gpu::CUdeviceptr>(p); }

// The block's contents are there, and it is free for others, when the stream has got this far.
gpu::DeviceBufferRef written(gpu::DeviceRef device, const BufferRef& block, gpu::CUstream stream) {
  const auto done = std::make_shared<gpu::Event>(device, stream);
  block->add_fence(done);
  return std::make_shared<gpu::DeviceBuffer>(device, std::vector<BufferRef>{block}, done);
}

}  // namespace

FedRef feed_copy(Pool& pool, std::vector<Tensor> samples) {
  const auto fed = fed_of(std::move(samples));
  fed->memory = pool.take(total_bytes(fed->samples));
  pack(fed->samples, fed->memory->data());
  place(fed->samples, fed->memory->data());
  return fed;
}

FedRef feed_room(Pool& pool, std::vector<Tensor> samples) {
  const auto fed = fed_of(std::move(samples));
  fed->memory = pool.take(total_bytes(fed->samples));
  place(fed->samples, fed->memory->data());
  return fed;
}

FedRef feed_in_place(std::vector<Tensor> samples) { return fed_of(std::move(samples)); }

FedRef feed_integers(const int64_t* values, int n) {
  auto fed = std::make_shared<Fed>();
  fed->integers.resize(size_t(n) + kRowSlack / sizeof(int64_t));
  std::copy(values, values + n, fed->integers.begin());
  fed->samples.resize(size_t(n));
  for (size_t i = 0; i < size_t(n); i++) {
    fed->samples[i].data = fed->integers.data() + i;
    fed->samples[i].dtype = DType::i64;
  }
  return fed;
}

FedRef feed_device(const gpu::DeviceBufferRef& buffer, std::vector<Tensor> samples, bool copy, gpu::CUstream stream,
                   bool wait) {
  const gpu::DeviceRef device = buffer->device();
  gpu::Current current(*device);
  const auto fed = fed_of(std::move(samples));
  if (!copy) {
    const auto now = std::make_shared<gpu::Event>(device, stream);
    fed->buffer = std::make_shared<gpu::DeviceBuffer>(std::vector<gpu::DeviceBufferRef>{
        buffer, std::make_shared<gpu::DeviceBuffer>(device, std::vector<BufferRef>{}, now)});
    return fed;
  }
  fed->memory = device->memory()->take(total_bytes(fed->samples), stream);
  buffer->order(stream);
  uint8_t* to = fed->memory->data();
  for (const Tensor& t : fed->samples) {
    if (t.bytes())
      gpu::check(gpu::driver().cuMemcpyDtoDAsync_v2(address(to), address(t.data), t.bytes(), stream),
                 "cuMemcpyDtoDAsync");
    to += t.bytes();
  }
  fed->buffer = written(device, fed->memory, stream);
  const auto done = std::make_shared<gpu::Event>(device, stream);
  buffer->used(done);
  if (wait) done->wait();
  place(fed->samples, fed->memory->data());
  return fed;
}

FedRef feed_upload(gpu::DeviceRef device, const std::vector<Tensor>& samples, gpu::CUstream stream) {
  const auto fed = fed_of(samples);
  gpu::Current current(*device);
  const size_t bytes = total_bytes(samples);
  fed->memory = device->memory()->take(bytes, stream);
  if (bytes) {
    const BufferRef pinned = device->pinned()->take(bytes);
    pack(samples, pinned->data());
    gpu::check(gpu::driver().cuMemcpyHtoDAsync_v2(address(fed->memory->data()), pinned->data(), bytes, stream),
               "cuMemcpyHtoDAsync");
    pinned->add_fence(std::make_shared<gpu::Event>(device, stream));
  }
  fed->buffer = written(device, fed->memory, stream);
  place(fed->samples, fed->memory->data());
  return fed;
}

}  // namespace ps
