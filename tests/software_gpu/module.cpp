#include "module.h"

#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <vector>

#include "failure.h"
#include "memory.h"

namespace software_gpu {

Module::Module(Context& context, const void* image) : context_(context) {
  ImageHeader header;
  require(image && std::memcmp(image, kImageMagic, sizeof kImageMagic) == 0, kInvalidImage);
  std::memcpy(&header, image, sizeof header);
  file_ = memfd_create("software_gpu_module", MFD_CLOEXEC);
  require(file_ >= 0, kOutOfMemory);
  const char* bytes = static_cast<const char*>(image) + sizeof header;
  for (uint64_t written = 0; written < header.bytes;) {
    const ssize_t n = write(file_, bytes + written, header.bytes - written);
    if (n <= 0) {
      unload();
      throw Failure{kOutOfMemory};
    }
    written += uint64_t(n);
  }
  library_ = dlopen(("/proc/self/fd/" + std::to_string(file_)).c_str(), RTLD_NOW | RTLD_LOCAL);
  const auto* size = library_ ? static_cast<const unsigned*>(dlsym(library_, "software_argument_bytes")) : nullptr;
  launch_ = library_ ? reinterpret_cast<SoftwareLaunch>(dlsym(library_, "software_launch")) : nullptr;
  if (!size || !launch_) {
    unload();
    throw Failure{kInvalidImage};
  }
  argument_bytes_ = *size;
}

Module::~Module() { unload(); }

void Module::unload() {
  if (library_) dlclose(library_);
  close(file_);
}

// software_launch runs the function of this name and no other.
bool Module::has(const char* name) const { return name && std::strcmp(name, "kernel") == 0; }

void Function::allow_shared(int bytes) {
  require(bytes >= 0 && unsigned(bytes) <= kSharedMost);
  shared_allowed_ = unsigned(bytes);
}

std::function<void()> Function::work(unsigned blocks, unsigned shared, void** arguments) const {
  require(shared <= shared_allowed_ && arguments && arguments[0]);
  const auto* argument = static_cast<const unsigned char*>(arguments[0]);
  return [module = module_, blocks, shared,
          argument = std::vector<unsigned char>(argument, argument + module_->argument_bytes_)] {
    const GuardedBytes memory(shared);
    for (unsigned block = 0; block < blocks; block++) {
      if (block) std::memset(memory.data(), kFresh, shared);
      module->launch_(argument.data(), block, memory.data());
    }
  };
}

}  // namespace software_gpu
