// Named stretches of time for NVIDIA's profilers (NVTX). Without their library, and without a profiler, they cost next
// to nothing.
#pragma once

#include <string>

namespace ps {

// Where NVTX's library may be besides the system's folders; has an effect before the first NvtxRange.
void set_nvtx_path(std::string path);

class NvtxRange {
 public:
  explicit NvtxRange(const char* name);
  explicit NvtxRange(const std::string& name) : NvtxRange(name.c_str()) {}
  ~NvtxRange();
  NvtxRange(const NvtxRange&) = delete;
  NvtxRange& operator=(const NvtxRange&) = delete;
};

}  // namespace ps
