#include "cuda/driver/kernel.h"

#include "core/error.h"

namespace ps::gpu {
namespace {

// Never destroyed: a thread may look at them while the process ends.
struct Compiling {
  std::mutex mutex;
  std::condition_variable idle;
  Compiler compiler;
  int calls = 0;                           // of the compiler, under way
};

Compiling& compiling() {
  static auto& one = *new Compiling;
  return one;
}

}  // namespace

void set_compiler(Compiler c) {
  Compiling& all = compiling();
  std::unique_lock lock(all.mutex);
  all.compiler = std::move(c);
  if (!all.compiler) all.idle.wait(lock, [&] { return all.calls == 0; });
}

CUfunction Kernel::function() {
  std::unique_lock lock(mutex_);
  done_.wait(lock, [&] { return compiled_; });
  if (!error_.empty()) fail(ErrorKind::device, error_ + "\n" + source_);
  if (!function_) {
    check(driver().cuModuleLoadData(&module_, binary_.data()), "cuModuleLoadData");
    check(driver().cuModuleGetFunction(&function_, module_, "kernel"), "cuModuleGetFunction");
    binary_ = {};
  }
  return function_;
}

KernelTable& KernelTable::of(Device& device) {
  static std::mutex mutex;
  static auto* tables = new std::map<Device*, KernelTable*>;
  std::lock_guard lock(mutex);
  KernelTable*& table = (*tables)[&device];
  if (!table) table = new KernelTable(device);
  return *table;
}

Kernel* KernelTable::request(const std::string& source) {
  std::lock_guard lock(mutex_);
  auto& kernel = kernels_[source];
  if (!kernel) {
    kernel = std::make_unique<Kernel>();
    kernel->source_ = source;
    std::thread([this, k = kernel.get()] { compile(*k); }).detach();   // few, and each ends by itself
  }
  return kernel.get();
}

void KernelTable::compile(Kernel& kernel) {
  Compiling& all = compiling();
  Compiler compile;
  {
    std::lock_guard lock(all.mutex);
    compile = all.compiler;
    all.calls++;
  }
  std::vector<char> binary;
  std::string error;
  bool good = false;
  try {
    good = compile && compile(kernel.source_, device_.arch(), binary, error);
  } catch (const std::exception& e) {
    error = e.what();
  }
  if (!good && error.empty()) error = "no compiler for GPU kernels is set";
  {
    std::lock_guard lock(kernel.mutex_);
    kernel.binary_ = std::move(binary);
    kernel.error_ = good ? "" : error;
    kernel.compiled_ = true;
  }
  kernel.done_.notify_all();
  std::lock_guard lock(all.mutex);
  if (--all.calls == 0) all.idle.notify_all();
}

}  // namespace ps::gpu
