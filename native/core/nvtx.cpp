#include "core/nvtx.h"

#include <dlfcn.h>

namespace ps {
namespace {

struct Nvtx {
  int (*push)(const char*) = nullptr;
  int (*pop)() = nullptr;
};

std::string path;

Nvtx load() {
  Nvtx n;
  for (const char* name : {path.c_str(), "libnvtx3interop.so.1", "libnvToolsExt.so.1"}) {
    void* library = *name ? dlopen(name, RTLD_NOW | RTLD_LOCAL) : nullptr;
    if (!library) continue;
    n.push = reinterpret_cast<int (*)(const char*)>(dlsym(library, "nvtxRangePushA"));
    n.pop = reinterpret_cast<int (*)()>(dlsym(library, "nvtxRangePop"));
    if (n.push && n.pop) return n;
  }
  return {};
}

const Nvtx& nvtx() {
  static const Nvtx loaded = load();
  return loaded;
}

}  // namespace

void set_nvtx_path(std::string p) { path = std::move(p); }

NvtxRange::NvtxRange(const char* name) {
  if (nvtx().push) nvtx().push(name);
}

NvtxRange::~NvtxRange() {
  if (nvtx().pop) nvtx().pop();
}

}  // namespace ps
