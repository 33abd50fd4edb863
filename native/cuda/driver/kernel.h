// Kernels by their source. A source is compiled once per architecture, on a thread of its own, by what Python has set
// as the compiler (penstock/machine/kernels.py: NVRTC, with a cache on disk); then it is loaded once per device.
#pragma once

#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "cuda/driver/device.h"

namespace ps::gpu {

class Kernel {
 public:
  // Waits until it is compiled. Throws Error(device) with the compiler's words if it cannot be.
  CUfunction function();
  const std::string& source() const { return source_; }

 private:
  friend class KernelTable;
  std::string source_;
  std::mutex mutex_;
  std::condition_variable done_;
  bool compiled_ = false;
  std::string error_;
  std::vector<char> binary_;
  CUmodule module_ = nullptr;
  CUfunction function_ = nullptr;
};

// Compiles for an architecture such as 90; false: `error` says why.
using Compiler =
    std::function<bool(const std::string& source, int arch, std::vector<char>& binary, std::string& error)>;
// Null: none any more. Waits for calls of the last one, which must not run into the end of the process.
void set_compiler(Compiler compiler);

// Those of one device, for all pipelines of the process. Like the device it stays to the end of the process.
class KernelTable {
 public:
  static KernelTable& of(Device& device);
  // Starts compiling if this source was not requested before.
  Kernel* request(const std::string& source);

 private:
  explicit KernelTable(Device& device) : device_(device) {}
  void compile(Kernel& kernel);
  Device& device_;
  std::mutex mutex_;
  std::map<std::string, std::unique_ptr<Kernel>> kernels_;
};

}  // namespace ps::gpu
