#include "decode/library.h"

#include <dlfcn.h>
#include <unistd.h>

#include <cctype>
#include <cstdlib>
#include <map>
#include <mutex>

#include "core/error.h"

namespace ps {
namespace {

std::mutex paths_mutex;
std::map<std::string, std::string>& paths() {
  static auto* all = new std::map<std::string, std::string>;
  return *all;
}

std::string variable(const char* name) {
  std::string text = "PENSTOCK_";
  for (const char* c = name; *c; c++) text += char(std::toupper(static_cast<unsigned char>(*c)));
  return text;
}

// The wheel's own, which lies beside this library; empty where there is none.
std::string bundled(const char* name) {
  Dl_info here{};
  if (!dladdr(reinterpret_cast<void*>(&bundled), &here) || !here.dli_fname) return {};
  std::string path = here.dli_fname;
  path.resize(path.rfind('/') + 1);        // npos + 1 is 0
  path += std::string(name) + "-penstock.so";
  return access(path.c_str(), R_OK) == 0 ? path : std::string();
}

}  // namespace

void set_codec_path(std::string name, std::string path) {
  std::lock_guard lock(paths_mutex);
  paths()[std::move(name)] = std::move(path);
}

void* CodecLibrary::open() const {
  std::string reason;
  const auto load = [&](const char* file) {
    void* library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (!library) reason += (reason.empty() ? "" : "; ") + std::string(dlerror());
    return library;
  };
  const std::string wanted = variable(name);
  if (const char* path = std::getenv(wanted.c_str()); path && *path) {
    if (void* library = load(path)) return library;        // no other one is tried: the setting is deliberate
  } else {
    if (const std::string path = bundled(name); !path.empty())
      if (void* library = load(path.c_str())) return library;
    for (const char* soname : sonames)
      if (void* library = load(soname)) return library;
    std::lock_guard lock(paths_mutex);
    if (const auto at = paths().find(name); at != paths().end())
      if (void* library = load(at->second.c_str())) return library;
  }
  fail(ErrorKind::unsupported, std::string(format) + " " + kind + " need " + name + ", which was not found: " +
       packages + " brings it, or set " + wanted + " to its path (" + reason + ")");
}

void* find_symbol(void* library, const char* function) { return dlsym(library, function); }

void require(bool all_found, const CodecLibrary& library) {
  if (!all_found)
    fail(ErrorKind::unsupported, std::string("this ") + library.name + " is too old: " + library.packages +
         " brings a newer one");
}

}  // namespace ps
