#include "cuda/decode/nvimgcodec/nvimgcodec.h"

#include <dlfcn.h>
#include <sys/stat.h>

#include <cstdlib>

#include "core/error.h"
#include "cuda/driver/libraries.h"

namespace ps::gpu::nvimgcodec {
namespace {

constexpr const char* kTitle = "nvImageCodec";

// The decoders proper are extensions. pip's package has them in a folder beside the library.
std::string extensions_beside(const void* function) {
  Dl_info info;
  if (std::getenv("NVIMGCODEC_EXTENSIONS_PATH") || !dladdr(function, &info) || !info.dli_fname) return {};
  const std::string file = info.dli_fname;
  const std::string folder = file.substr(0, file.rfind('/') + 1) + "extensions";
  struct stat about;
  return stat(folder.c_str(), &about) == 0 && S_ISDIR(about.st_mode) ? folder : std::string();
}

Api find_functions() {
  void* library = open_library("nvimgcodec", kTitle, {"libnvimgcodec.so.0"});
  Api a;
#define PS_FIND(name, ...) find_function(library, kTitle, #name, a.name);
  PS_NVIMGCODEC_FUNCTIONS(PS_FIND)
#undef PS_FIND
  Properties properties;
  check(a.nvimgcodecGetProperties(&properties), "nvimgcodecGetProperties");
  if (properties.version / 100 != kVersion / 100)
    fail(ErrorKind::device, "nvImageCodec 0." + std::to_string(properties.version / 100) + " was found, 0." +
         std::to_string(kVersion / 100) + " is needed: `pip install -U penstock[cuda13]`, or penstock[cuda12], "
         "brings it");
  return a;
}

// A failure is tried again: the next call throws it anew.
const Api& functions() {
  static const Api found = find_functions();
  return found;
}

Api make_instance() {
  Api a = functions();
  InstanceCreateInfo info;
  const std::string folder = extensions_beside(reinterpret_cast<const void*>(a.nvimgcodecGetProperties));
  if (!folder.empty()) info.extension_modules_path = folder.c_str();
  check(a.nvimgcodecInstanceCreate(&a.instance, &info), "nvimgcodecInstanceCreate");
  return a;
}

}  // namespace

const Api& api() {
  static const Api loaded = make_instance();
  return loaded;
}

void check_library() { functions(); }

void check(int status, const char* call) {
  if (status == kOk) return;
  constexpr int no_memory = 5, no_memory_in_extension = 15;
  fail(status == no_memory || status == no_memory_in_extension ? ErrorKind::memory : ErrorKind::device,
       std::string(call) + " failed with status " + std::to_string(status));
}

std::string text_of_item(uint32_t status) {
  switch (status) {
    case 0x3: return "no decoder that runs here can decode the file";
    case 0x7: return "the file is damaged";
    case 0xb: return "no decoder for this format is installed";
    case 0x13: return "no decoder for this format runs here";
    case 0x23: case 0x83: return "the file is of a kind that it does not decode";
    case 0x43: return "it does not decode pictures of this size";
    case 0x5: case 0x21: case 0x41: case 0x81: case 0x201: case 0x401:
      return "it does not give these channels in this type";
    case 0x11: return "it does not decode regions of such a file";
    default: return "it failed with status " + std::to_string(status);
  }
}

}  // namespace ps::gpu::nvimgcodec
