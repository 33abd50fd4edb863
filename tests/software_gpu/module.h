// Modules: shared libraries that the software NVRTC has made.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>

#include "image.h"

namespace software_gpu {

inline constexpr unsigned kSharedDefault = 48 << 10, kSharedMost = 227 << 10;     // bytes of a block

class Context;

class Module {
 public:
  Module(Context& context, const void* image);     // throws Failure{kInvalidImage}
  ~Module();
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;
  Context& context() const { return context_; }
  bool has(const char* name) const;

 private:
  friend class Function;
  void unload();
  Context& context_;
  void* library_ = nullptr;
  int file_ = -1;                                  // kept: the loader knows libraries by the file's name
  SoftwareLaunch launch_ = nullptr;
  unsigned argument_bytes_ = 0;
};

class Function {
 public:
  explicit Function(std::shared_ptr<Module> module) : module_(std::move(module)) {}
  const Module& module() const { return *module_; }
  void allow_shared(int bytes);
  // Takes a copy of the argument, as a launch does.
  std::function<void()> work(unsigned blocks, unsigned shared, void** arguments) const;

 private:
  std::shared_ptr<Module> module_;
  std::atomic<unsigned> shared_allowed_ = kSharedDefault;
};

}  // namespace software_gpu
