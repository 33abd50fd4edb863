// The way of one thread from files into a GPU's memory: past the host where cuFile can.
#pragma once

#include <sys/types.h>

#include <map>
#include <memory>

#include "core/operator.h"
#include "cuda/driver/device.h"
#include "read/storage.h"

namespace ps::gpu {

class FileToGpu {
 public:
  // `direct`: what StorageDriver::open() has said. `register_buffers`: whole pages go into memory that cuFile knows,
  // and what is wanted of them is copied from there; else it reads to where bytes stay, by buffers of its own unless
  // file, memory and number of bytes are all aligned.
  FileToGpu(DeviceRef device, bool direct, bool register_buffers, bool past_cache);
  ~FileToGpu();
  FileToGpu(const FileToGpu&) = delete;
  FileToGpu& operator=(const FileToGpu&) = delete;

  // Bytes from a place of the file on, which are there when it returns. What is put there must wait for no work of the
  // GPU's. A reason, which lives as long as the process: cuFile does not read them, and what was to be written is not.
  Misfit read(const StoredFile& file, int64_t at, void* to, int64_t bytes);
  // From the host's memory; they are there when it returns.
  void copy(const void* from, void* to, size_t bytes);

 private:
  class Registered;
  struct Landing;
  struct Refusals {
    int count = 0;                       // running
    Misfit why = nullptr;
  };
  const Stream& stream();
  Landing& landing();
  void land(const Registered& file, int64_t at, uint8_t* to, int64_t bytes);

  DeviceRef device_;
  bool register_buffers_, past_cache_;
  std::unique_ptr<Stream> stream_;
  std::unique_ptr<Landing> landing_;     // where whole pages go
  std::map<dev_t, Refusals> refusals_;   // by file system: one that cuFile takes no file of is not tried for ever
};

}  // namespace ps::gpu
