// Index files, open for looking JPEG files up in them. Nothing in them is believed: whatever they hold, what is given
// lies within them, and is as it was written for a file of the same size, ends and beginning of the scan.
#pragma once

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

  // For a file with a supported header. False: none of them has it, or what it has is damaged. What is found lies in
  // memory that is there as long as this is.
  bool find(const uint8_t* data, size_t size, const jpeg::Header& header, jpeg::ScanIndex& found) const;

 private:
  class File;
  std::vector<std::shared_ptr<const File>> files_;
};

}  // namespace ps
