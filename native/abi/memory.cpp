// The C ABI's part for memory of GPUs in the hands of consumers.
#include "abi/guard.h"
#include "abi/tensor.h"
#include "cuda/memory/dlpack.h"

using namespace ps;

namespace {

template <class F> ps_gpu_memory* new_memory(F f) {
  gpu::DeviceBufferRef buffer;
  return guarded([&] { buffer = f(); return 0; }) < 0 ? nullptr : new ps_gpu_memory{std::move(buffer)};
}

gpu::CUstream stream_of(uint64_t handle) { return reinterpret_cast<gpu::CUstream>(handle); }

}  // namespace

int ps_batch_device(const ps_batch* b, int value) {
  return b->batch->plan->values[size_t(value)].gpu ? b->batch->device->number() : -1;
}

ps_gpu_memory* ps_gpu_of_batch(const ps_batch* b, int value) {
  return new_memory([&] {
    const std::shared_ptr<Batch>& batch = b->batch;
    const BufferRef& block = batch->value_memory[size_t(value)];
    const auto buffer = [&](std::vector<BufferRef> buffers, std::shared_ptr<const void> owner) {
      return std::make_shared<gpu::DeviceBuffer>(batch->device, std::move(buffers), batch->done, std::move(owner));
    };
    if (block) return buffer({block}, nullptr);
    // What was fed and is handed on has no block of its own: the batch keeps it, and its buffers know how it is used.
    std::vector<gpu::DeviceBufferRef> parts{buffer({}, batch)};
    for (const auto& [value, fed] : batch->fed)
      if (fed->buffer) parts.push_back(fed->buffer);
    return std::make_shared<gpu::DeviceBuffer>(std::move(parts));
  });
}

ps_gpu_memory* ps_gpu_join(ps_gpu_memory* const* parts, int n) {
  return new_memory([&] {
    std::vector<gpu::DeviceBufferRef> buffers;
    for (int i = 0; i < n; i++) buffers.push_back(parts[i]->buffer);
    return std::make_shared<gpu::DeviceBuffer>(std::move(buffers));
  });
}

ps_gpu_memory* ps_gpu_borrow(int device, const uint64_t* stream, void (*release)(void*), void* owner) {
  return new_memory([&] {
    std::shared_ptr<const void> kept(owner, release);
    const gpu::DeviceRef d = gpu::Device::get(device);
    gpu::Current current(*d);
    auto ready = stream ? std::make_shared<gpu::Event>(d, stream_of(*stream)) : nullptr;
    return std::make_shared<gpu::DeviceBuffer>(d, std::vector<BufferRef>{}, std::move(ready), std::move(kept));
  });
}

ps_gpu_memory* ps_gpu_upload(int device, const ps_tensor* samples, int n, void** data) {
  return new_memory([&] {
    auto copied = gpu::upload(gpu::Device::get(device), from_c(samples, n));
    *data = copied.data;
    return copied.buffer;
  });
}

ps_gpu_memory* ps_gpu_gather(ps_gpu_memory* m, const ps_tensor* samples, int n, void** data) {
  return new_memory([&] {
    auto copied = gpu::gather(*m->buffer, from_c(samples, n));
    *data = copied.data;
    return copied.buffer;
  });
}

int ps_gpu_download(ps_gpu_memory* m, const ps_tensor* samples, int n, void* to) {
  return guarded([&] { gpu::download(*m->buffer, from_c(samples, n), to); return 0; });
}

int ps_gpu_copy_out(ps_gpu_memory* m, const ps_tensor* samples, int n, void* to, uint64_t stream, int wait) {
  return guarded([&] { gpu::copy_out(*m->buffer, from_c(samples, n), to, stream_of(stream), wait != 0); return 0; });
}

int ps_gpu_passed(const ps_gpu_memory* m) { return guarded([&] { return m->buffer->passed() ? 1 : 0; }); }
int ps_gpu_wait(const ps_gpu_memory* m) { return guarded([&] { m->buffer->wait(); return 0; }); }
int ps_gpu_order(const ps_gpu_memory* m, uint64_t stream) {
  return guarded([&] { m->buffer->order(stream_of(stream)); return 0; });
}
int ps_gpu_lend(ps_gpu_memory* m) { return guarded([&] { m->buffer->lend(); return 0; }); }
void ps_gpu_destroy(ps_gpu_memory* m) { delete m; }

int ps_gpu_copy_stream(int device, uint64_t* stream) {
  return guarded([&] {
    *stream = reinterpret_cast<uint64_t>(gpu::copy_stream(gpu::Device::get(device)));
    return 0;
  });
}

int ps_gpu_device_at(const void* data) {
  return guarded([&] {
    int number = -1;
    const auto there = reinterpret_cast<gpu::CUdeviceptr>(data);
    gpu::check(gpu::driver().cuPointerGetAttribute(&number, gpu::kPointerDevice, there),
               "cuPointerGetAttribute");
    return number;
  });
}

const char* ps_dlpack_export(ps_gpu_memory* m, const ps_tensor* t, int flags, void** managed) {
  gpu::Exported e{};
  guarded([&] {
    e = gpu::dlpack_export(m->buffer, from_c(*t), (flags & PS_DLPACK_VERSIONED) != 0, (flags & PS_DLPACK_COPIED) != 0);
    *managed = e.managed;
    return 0;
  });
  return e.capsule;
}

void ps_dlpack_capsule_destructor(void* capsule) { gpu::dlpack_capsule_destructor(capsule); }
