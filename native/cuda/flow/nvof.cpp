#include "cuda/flow/nvof.h"

#include <algorithm>
#include <array>
#include <string>

#include "core/error.h"
#include "cuda/driver/libraries.h"

namespace ps::gpu::nvof {
namespace {

constexpr const char* kTitle = "NVIDIA's optical flow library";

Api find_functions() {
  void* library = open_library("nvof", kTitle, {"libnvidia-opticalflow.so.1"},
                               "NVIDIA's optical flow library, libnvidia-opticalflow.so.1, was not found: it comes "
                               "with the driver (in a container, NVIDIA_DRIVER_CAPABILITIES must name 'video')");
  CreateInstance* create = nullptr;
  find_function(library, kTitle, "NvOFAPICreateInstanceCuda", create);
  Api found;
  check(create(kVersion, &found), "NvOFAPICreateInstanceCuda", nullptr);
  return found;
}

std::string name_of(int status) {
  static constexpr std::array names = {
      "no error", "there is no engine for optical flow", "this GPU is not supported", "the GPU is gone",
      "an invalid pointer", "an invalid parameter", "a call out of order", "an unsupported version of the interface",
      "out of memory", "not initialized", "an unsupported parameter", "an unknown error",
  };
  return status >= 0 && size_t(status) < names.size() ? names[size_t(status)] : "status " + std::to_string(status);
}

}  // namespace

// A failure is tried again: the next call throws it anew.
const Api& api() {
  static const Api found = find_functions();
  return found;
}

void check(int status, const char* call, Handle handle) {
  if (status == kOk) return;
  std::string text = std::string("NVIDIA's optical flow engine: ") + call + " failed: " + name_of(status);
  std::array<char, 256> details{};
  uint32_t size = details.size() - 1;
  if (handle && api().last_error(handle, details.data(), &size) == kOk && details[0])
    text += std::string(" (") + details.data() + ")";
  fail(status == kNoMemory ? ErrorKind::memory : ErrorKind::device, text);
}

}  // namespace ps::gpu::nvof
