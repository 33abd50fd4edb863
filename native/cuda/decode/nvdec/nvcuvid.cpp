#include "cuda/decode/nvdec/nvcuvid.h"

#include "cuda/driver/libraries.h"

namespace ps::gpu::cuvid {
namespace {

constexpr const char* kTitle = "NVIDIA's video decoder";

Api find_functions() {
  void* library = open_library("nvcuvid", kTitle, {"libnvcuvid.so.1"},
                               "NVIDIA's video decoder, libnvcuvid.so.1, was not found: it comes with the driver (in a "
                               "container, NVIDIA_DRIVER_CAPABILITIES must name 'video')");
  Api a;
#define PS_FIND(name, ...) find_function(library, kTitle, #name, a.name);
  PS_CUVID_FUNCTIONS(PS_FIND)
#undef PS_FIND
  return a;
}

}  // namespace

// A failure is tried again: the next call throws it anew.
const Api& api() {
  static const Api found = find_functions();
  return found;
}

}  // namespace ps::gpu::cuvid
