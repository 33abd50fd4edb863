#include "cuda/decode/nvjpeg/nvjpeg.h"

#include <iterator>
#include <string>

#include "core/error.h"
#include "cuda/driver/libraries.h"

namespace ps::gpu {
namespace {

constexpr const char* kTitle = "nvJPEG";

Nvjpeg load() {
  driver();                                        // without a driver that is what to say, not that nvJPEG is missing
  void* library = open_library("nvjpeg", kTitle, {"libnvjpeg.so.13", "libnvjpeg.so.12"});
  Nvjpeg n;
#define PS_FIND(name, ...) find_function(library, kTitle, #name, n.name);
  PS_NVJPEG_FUNCTIONS(PS_FIND)
#undef PS_FIND
  return n;
}

const char* text_of(int status) {
  constexpr const char* texts[] = {
      "success", "not initialized", "invalid parameter", "broken JPEG", "JPEG of a kind that it does not support",
      "no memory", "execution failed", "not made for this GPU", "internal error", "not implemented",
      "incomplete JPEG"};
  return status >= 0 && size_t(status) < std::size(texts) ? texts[status] : "unknown error";
}

}  // namespace

const Nvjpeg& nvjpeg() {
  static const Nvjpeg loaded = load();             // a failure is tried again: the next call throws it anew
  return loaded;
}

void check_nvjpeg(int status, const char* call) {
  if (status == kNvjpegSuccess) return;
  fail(status == kNvjpegAllocatorFailure ? ErrorKind::memory : ErrorKind::device,
       std::string(call) + ": " + text_of(status) + " (status " + std::to_string(status) + ")");
}

bool is_fault_of_file(int status) {
  return status == kNvjpegInvalidParameter || status == kNvjpegBadJpeg || status == kNvjpegNotSupported ||
         status == kNvjpegNotImplemented || status == kNvjpegIncomplete;
}

}  // namespace ps::gpu
