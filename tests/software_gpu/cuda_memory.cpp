// Memory and copies.
#include <algorithm>
#include <cstring>

#include "cuda.h"
#include "memory.h"

namespace software_gpu {
namespace {

// A range of bytes: of a device's memory, or of the host's.
void require_range(const void* p, size_t bytes, bool device) {
  require(device ? Memory::get().in_device(p, bytes) : Memory::get().in_host(p, bytes));
}

void copy(void* to, const void* from, size_t bytes, CUstream stream, bool from_device, bool to_device) {
  const StreamRef s = stream_of(stream);
  if (!bytes) return;
  require_range(to, bytes, to_device);
  require_range(from, bytes, from_device);
  s->submit([=] { std::memmove(to, from, bytes); });
}

void free_memory(bool pinned, const void* p) {
  current();
  if (!p) return;
  for (Context& c : state().contexts) c.wait_for_all();
  Memory::get().free(pinned, p);
}

}  // namespace
}  // namespace software_gpu

using namespace software_gpu;

CUresult cuMemGetInfo_v2(size_t* free, size_t* total) {
  return call([&] {
    const size_t used = Memory::get().used(current().device), limit = Memory::get().limit();
    *free = limit > used ? limit - used : 0;
    *total = limit;
  });
}

CUresult cuMemAlloc_v2(CUdeviceptr* p, size_t bytes) {
  return call([&] { *p = CUdeviceptr(Memory::get().allocate(current().device, bytes)); });
}

CUresult cuMemHostAlloc(void** p, size_t bytes, unsigned) {
  return call([&] {
    current();
    *p = Memory::get().allocate(kPinned, bytes);
  });
}

CUresult cuMemFree_v2(CUdeviceptr p) {
  return call([&] { free_memory(false, pointer(p)); });
}

CUresult cuMemFreeHost(void* p) {
  return call([&] { free_memory(true, p); });
}

CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void* from, size_t bytes, CUstream stream) {
  return call([&] { copy(pointer(to), from, bytes, stream, false, true); });
}

CUresult cuMemcpyDtoHAsync_v2(void* to, CUdeviceptr from, size_t bytes, CUstream stream) {
  return call([&] { copy(to, pointer(from), bytes, stream, true, false); });
}

CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream) {
  return call([&] { copy(pointer(to), pointer(from), bytes, stream, true, true); });
}

CUresult cuMemcpy2DAsync_v2(const CopyRect* rect, CUstream stream) {
  return call([&] {
    const StreamRef s = stream_of(stream);
    require(rect);
    const CopyRect r = *rect;
    constexpr int host = 1;
    require((r.src_type == host || r.src_type == kMemoryDevice) && (r.dst_type == host || r.dst_type == kMemoryDevice));
    if (!r.width_bytes || !r.height) return;
    require(r.src_x_bytes + r.width_bytes <= r.src_pitch && r.dst_x_bytes + r.width_bytes <= r.dst_pitch);
    const bool from_device = r.src_type == kMemoryDevice, to_device = r.dst_type == kMemoryDevice;
    const auto* from = static_cast<const unsigned char*>(from_device ? pointer(r.src_device) : r.src_host);
    auto* to = static_cast<unsigned char*>(to_device ? pointer(r.dst_device) : r.dst_host);
    from += r.src_y * r.src_pitch + r.src_x_bytes;
    to += r.dst_y * r.dst_pitch + r.dst_x_bytes;
    require_range(from, (r.height - 1) * r.src_pitch + r.width_bytes, from_device);
    require_range(to, (r.height - 1) * r.dst_pitch + r.width_bytes, to_device);
    s->submit([=] {
      for (size_t y = 0; y < r.height; y++) std::memcpy(to + y * r.dst_pitch, from + y * r.src_pitch, r.width_bytes);
    });
  });
}

CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t bytes, CUstream stream) {
  return call([&] {
    const StreamRef s = stream_of(stream);
    if (!bytes) return;
    require_range(pointer(to), bytes, true);
    s->submit([=] { std::memset(pointer(to), value, bytes); });
  });
}

// Needs no context, which callers rely on.
CUresult cuPointerGetAttribute(void* value, int which, CUdeviceptr p) {
  return call([&] {
    constexpr int memory_type = 2, host = 1, device = 2;
    const std::optional<int> owner = Memory::get().device_of(pointer(p));
    require(value && owner && (which == memory_type || which == kPointerDevice));
    const int result = which == memory_type ? (*owner == kPinned ? host : device) : std::max(*owner, 0);
    *static_cast<int*>(value) = result;
  });
}
