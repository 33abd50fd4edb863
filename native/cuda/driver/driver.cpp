#include "cuda/driver/driver.h"

#include <dlfcn.h>

#include <cstdlib>
#include <string>

#include "core/error.h"

namespace ps::gpu {
namespace {

Driver load() {
  const char* named = std::getenv("PENSTOCK_CUDA_DRIVER");
  const char* name = named && *named ? named : "libcuda.so.1";
  void* library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (!library)
    fail(ErrorKind::device, std::string("no GPU can be used: NVIDIA's driver was not found (") + dlerror() + ")");
  Driver d;
  const auto find = [&](const char* symbol, auto& to, bool needed) {
    to = reinterpret_cast<std::remove_reference_t<decltype(to)>>(dlsym(library, symbol));
    if (!to && needed)
      fail(ErrorKind::device, std::string("no GPU can be used: NVIDIA's driver is too old, it has no ") + symbol);
  };
#define PS_FIND(symbol, ...) find(#symbol, d.symbol, true);
  PS_CUDA_FUNCTIONS(PS_FIND)
#undef PS_FIND
#define PS_FIND(symbol, ...) find(#symbol, d.symbol, false);
  PS_CUDA_OPTIONAL(PS_FIND)
#undef PS_FIND
  if (const CUresult r = d.cuInit(0); r != kSuccess) {
    const char* text = nullptr;
    d.cuGetErrorString(r, &text);
    fail(ErrorKind::device, "no GPU can be used: NVIDIA's driver says '" + std::string(text ? text : "?") + "'");
  }
  return d;
}

}  // namespace

const Driver& driver() {
  static const Driver loaded = load();       // a failure is tried again: the next call throws it anew
  return loaded;
}

void check(CUresult result, const char* call) {
  if (result == kSuccess) return;
  const char *name = nullptr, *text = nullptr;
  driver().cuGetErrorName(result, &name);
  driver().cuGetErrorString(result, &text);
  fail(result == kOutOfMemory ? ErrorKind::memory : ErrorKind::device,
       std::string(call) + ": " + (text ? text : "unknown error") + " (" +
           (name ? name : std::to_string(result)) + ")");
}

}  // namespace ps::gpu
