// Named stretches of time for NVIDIA's profilers (NVTX). Without their library, and without a profiler, they cost next
// to nothing.
#pragma once

#include <string>

namespace ps {

// Where NVTX's library may be besides the system's folders; has an effect before the first Range.
void set_nvtx_path(std::string path);

class Range {
 public:
  explicit Range(const char* name);
  explicit Range(const std::string& name) : Range(name.c_str()) {}
  ~Range();
  Range(const Range&) = delete;
  Range& operator=(const Range&) = delete;
};

}  // namespace ps
