// Writes an index file (index_format.h). Files may be added by many threads at once.
#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include "decode/jpeg/index_format.h"
#include "penstock.h"

namespace ps::jpeg {

// What became of a file.
enum class Indexed : int32_t {
  yes = PS_INDEXED_YES,
  not_jpeg = PS_INDEXED_NOT_JPEG,
  other_kind = PS_INDEXED_OTHER_KIND,
  broken = PS_INDEXED_BROKEN,
};

class IndexWriter {
 public:
  explicit IndexWriter(const std::string& path);   // throws Error(read), as all of these
  static bool is_jpeg(const uint8_t* data, size_t size) {
    return size >= 3 && data[0] == 0xFF && data[1] == 0xD8 && data[2] == 0xFF;
  }
  Indexed add(const uint8_t* data, size_t size);
  void finish();                                   // nothing may be added any more

 private:
  struct Written {
    uint64_t place, content;
    bool ambiguous;                    // of several files with this key
  };
  void write(const void* data, size_t size);
  [[noreturn]] void refuse();

  std::string path_;
  std::mutex mutex_;
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_;
  uint64_t at_ = 0;
  int error_ = 0;                      // of the first time that nothing could be written
  std::unordered_map<uint64_t, Written> written_;          // by key
};

}  // namespace ps::jpeg
