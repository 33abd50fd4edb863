#include "cuda/driver/libraries.h"

#include <dlfcn.h>

#include <map>
#include <mutex>

#include "core/error.h"

namespace ps::gpu {
namespace {

std::mutex paths_mutex;
std::map<std::string, std::string>& paths() {
  static auto* all = new std::map<std::string, std::string>;
  return *all;
}

}  // namespace

void set_library_path(std::string name, std::string path) {
  std::lock_guard lock(paths_mutex);
  paths()[std::move(name)] = std::move(path);
}

void* open_library(const std::string& name, const char* title, std::initializer_list<const char*> sonames,
                   const char* missing) {
  std::string path, reason;
  {
    std::lock_guard lock(paths_mutex);
    path = paths()[name];
  }
  const auto load = [&](const char* file) {
    void* library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (!library) reason += (reason.empty() ? "" : "; ") + std::string(dlerror());
    return library;
  };
  if (!path.empty())
    if (void* library = load(path.c_str())) return library;
  for (const char* soname : sonames)
    if (void* library = load(soname)) return library;
  if (missing) fail(ErrorKind::device, missing);
  fail(ErrorKind::device, std::string(title) + " was not found: `pip install penstock[cuda13]`, or penstock[cuda12] "
       "for older drivers, brings it (" + reason + ")");
}

void* find_function(void* library, const char* title, const char* function) {
  if (void* found = dlsym(library, function)) return found;
  fail(ErrorKind::device, std::string("this ") + title + " is too old, it has no " + function +
       ": `pip install -U penstock[cuda13]`, or penstock[cuda12], brings a newer one");
}

}  // namespace ps::gpu
