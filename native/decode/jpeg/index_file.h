// Index files, open for looking JPEG files up in them. Their contents are not trusted: whatever they hold, what is
// found lies within them, and is as it was written for a file of the same size, ends and beginning of the scan.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "decode/jpeg/header.h"
#include "decode/jpeg/index.h"

namespace ps {

class JpegIndex {
 public:
  // Files that are open already are shared. Null: there are none. Throws Error(read).
  static std::shared_ptr<const JpegIndex> open(const std::vector<std::string>& paths);

  // For a file with a supported header. False: none of them has it, or what it has is damaged. What is found is read
  // to memory of the caller's, aligned to 8, which `take` gives. Throws Error(system) where an index file cannot be
  // read any more, or was cut off since it was opened.
  using Take = std::function<void*(size_t bytes)>;
  bool find(const uint8_t* data, size_t size, const jpeg::Header& header, const Take& take,
            jpeg::ScanIndex& found) const;

 private:
  class File;
  std::vector<std::shared_ptr<const File>> files_;
};

}  // namespace ps
