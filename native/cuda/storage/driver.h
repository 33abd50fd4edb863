// The driver of GPUDirect Storage, which a process opens once, for that takes long, and closes at its end.
#pragma once

namespace ps::gpu {

class StorageDriver {
 public:
  // Whether it goes past the host: else cuFile, too, reads into the host's memory and copies. Throws Error(device)
  // where there is no cuFile, or its driver does not open.
  static bool open();
  // Before the process ends: at its very end CUDA may be gone already. What is in use, as by a thread that still waits
  // for a file, keeps it open.
  static void close();

  // While this lives, the driver is not closed.
  class Use {
   public:
    Use();
    ~Use();
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;
    bool is_open() const { return open_; }

   private:
    bool open_;
  };
};

}  // namespace ps::gpu
