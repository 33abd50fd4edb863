// Small pieces of a file, looked at on the way from its beginning to its end.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "read/storage.h"

namespace ps {

class Scanner {
 public:
  explicit Scanner(const char* path) : file_(open_file(path)), bytes_(file_->bytes()) {}
  int64_t bytes() const { return bytes_; }

  // So many bytes from there on, until the next call; null: the file ends before.
  const uint8_t* at(int64_t offset, int64_t n) {
    if (offset < 0 || n > bytes_ - offset) return nullptr;
    if (offset < begin_ || offset + n > begin_ + int64_t(held_.size())) fill(offset, n);
    return held_.data() + (offset - begin_);
  }

 private:
  // More at a time where pieces follow each other closely, a page where what lies between them is passed over.
  void fill(int64_t offset, int64_t n) {
    const int64_t end = begin_ + int64_t(held_.size());
    const bool near = offset >= begin_ && offset <= end + kLeast;
    ahead_ = near ? std::min(2 * ahead_, kMost) : kLeast;
    const int64_t wanted = std::min(std::max(n, ahead_), bytes_ - offset);
    held_.clear();
    begin_ = offset;
    held_.resize(size_t(wanted));
    file_->read_all(offset, held_.data(), wanted);
  }

  static constexpr int64_t kLeast = 4096, kMost = 1 << 18;
  std::unique_ptr<StoredFile> file_;
  int64_t bytes_, begin_ = 0, ahead_ = kLeast;
  std::vector<uint8_t> held_;
};

}  // namespace ps
