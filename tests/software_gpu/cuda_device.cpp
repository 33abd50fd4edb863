// The driver itself, its devices and their contexts.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "cuda.h"
#include "memory.h"

namespace software_gpu {
namespace {

thread_local std::vector<Context*> context_stack;

void write_text(char* to, int length, const std::string& text) {
  require(to && length > 0);
  std::snprintf(to, size_t(length), "%s", text.c_str());
}

struct ErrorText {
  CUresult code;
  const char *name, *text;
};
constexpr ErrorText kErrors[] = {
    {kSuccess, "CUDA_SUCCESS", "no error"},
    {kInvalidValue, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {kOutOfMemory, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {kNotInitialized, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
    {kNoDevice, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
    {kInvalidDevice, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
    {kInvalidImage, "CUDA_ERROR_INVALID_IMAGE", "device kernel image is invalid"},
    {kInvalidContext, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
    {kInvalidHandle, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"},
    {kNotFound, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    {kNotReady, "CUDA_ERROR_NOT_READY", "device not ready"},
    {kNotPermitted, "CUDA_ERROR_NOT_PERMITTED", "operation not permitted"},
};

CUresult describe(CUresult code, const char** to, const char* ErrorText::* which) {
  const auto* found = std::find_if(std::begin(kErrors), std::end(kErrors), [&](auto& e) { return e.code == code; });
  *to = found == std::end(kErrors) ? nullptr : found->*which;
  return *to ? kSuccess : kInvalidValue;
}

// Every function that the library cannot do without is there, or this does not link.
#define ADDRESS(name, ...) reinterpret_cast<void*>(&::name),
[[gnu::used]] void* const all_functions[] = {PS_CUDA_FUNCTIONS(ADDRESS)};
#undef ADDRESS

}  // namespace

State& state() {
  static State* all = new State;
  return *all;
}

bool in_process_of_init() { return state().process == getpid(); }

Context& current() {
  require(!context_stack.empty(), kInvalidContext);
  return *context_stack.back();
}

Context& context_of(CUdevice device) {
  require(device >= 0 && size_t(device) < state().contexts.size(), kInvalidDevice);
  return state().contexts[size_t(device)];
}

Context& context_of(CUcontext handle) {
  for (Context& c : state().contexts)
    if (reinterpret_cast<CUcontext>(&c) == handle && c.users > 0) return c;
  throw Failure{kInvalidContext};
}

StreamRef stream_of(CUstream handle) {
  Context& context = current();
  if (!handle || handle == kLegacyStream) return context.default_stream(false);
  if (handle == kPerThreadStream) return context.default_stream(true);
  return state().streams.find(handle);
}

}  // namespace software_gpu

using namespace software_gpu;

void software_gpu_set_delay_us(unsigned microseconds) { set_delay(microseconds); }
void software_gpu_set_memory(size_t bytes) { Memory::get().set_limit(bytes); }

CUresult cuInit(unsigned flags) {
  if (flags) return kInvalidValue;
  State& s = state();
  std::lock_guard lock(s.mutex);
  if (s.process) return s.process == getpid() ? kSuccess : kNotInitialized;
  const char* text = std::getenv("SOFTWARE_GPUS");
  const int devices = text ? std::atoi(text) : 1;
  if (devices <= 0) return kNoDevice;
  for (int i = 0; i < devices; i++) s.contexts.emplace_back(i);
  s.process = getpid();
  return kSuccess;
}

CUresult cuDriverGetVersion(int* version) {
  *version = 13000;
  return kSuccess;
}

CUresult cuGetErrorName(CUresult code, const char** name) { return describe(code, name, &ErrorText::name); }
CUresult cuGetErrorString(CUresult code, const char** text) { return describe(code, text, &ErrorText::text); }

CUresult cuDeviceGetCount(int* count) {
  return call([&] { *count = int(state().contexts.size()); });
}

CUresult cuDeviceGet(CUdevice* device, int number) {
  return call([&] { *device = context_of(number).device; });
}

CUresult cuDeviceGetName(char* name, int length, CUdevice device) {
  return call([&] {
    context_of(device);
    write_text(name, length, "Software GPU");
  });
}

CUresult cuDeviceGetAttribute(int* value, int which, CUdevice device) {
  return call([&] {
    constexpr int max_threads_per_block = 1, warp_size = 10;
    context_of(device);
    switch (which) {
      case max_threads_per_block: *value = 1024; return;
      case warp_size: *value = 32; return;
      case kMaxSharedPerBlock: *value = kSharedDefault; return;
      case kMultiprocessors: *value = 8; return;
      case kMajor: *value = 9; return;
      case kMinor: *value = 0; return;
      case kMaxSharedOptin: *value = kSharedMost; return;
      default: throw Failure{kInvalidValue};
    }
  });
}

// In a domain of the PCI bus that no machine has.
CUresult cuDeviceGetPCIBusId(char* id, int length, CUdevice device) {
  return call([&] {
    char text[16];
    std::snprintf(text, sizeof text, "FFFE:%02X:00.0", unsigned(context_of(device).device) & 0xff);
    write_text(id, length, text);
  });
}

CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) {
  return call([&] {
    Context& c = context_of(device);
    c.users++;
    *context = reinterpret_cast<CUcontext>(&c);
  });
}

CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device) {
  return call([&] {
    Context& c = context_of(device);
    int users = c.users;
    do require(users > 0, kInvalidContext);
    while (!c.users.compare_exchange_weak(users, users - 1));
  });
}

CUresult cuCtxPushCurrent_v2(CUcontext context) {
  return call([&] { context_stack.push_back(&context_of(context)); });
}

CUresult cuCtxPopCurrent_v2(CUcontext* context) {
  return call([&] {
    Context& c = current();
    context_stack.pop_back();
    if (context) *context = reinterpret_cast<CUcontext>(&c);
  });
}

CUresult cuCtxSynchronize() {
  return call([&] { current().wait_for_all(); });
}

CUresult cuCtxGetStreamPriorityRange(int* least, int* greatest) {
  return call([&] {
    current();
    if (least) *least = 0;
    if (greatest) *greatest = -5;
  });
}
