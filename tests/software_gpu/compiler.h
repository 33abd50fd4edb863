// g++ as the compiler of kernels.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace software_gpu {

// Removed with all that is in it.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

// Makes kernel.so out of the folder's kernel.cpp; what the compiler says is added to its file `log`.
bool compile(const std::filesystem::path& folder, const std::vector<std::string>& options);

}  // namespace software_gpu
