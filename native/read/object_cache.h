// What was read from object stores, kept on a disk of this machine: files of one folder, which several processes share.
//
// An entry is what was read at a time, a whole object or some bytes of one, and appears whole or not at all. Entries
// that were not used for longest go first where they would be more than the limit. Nothing is deleted but entries.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "read/requests.h"

namespace ps {

class ObjectCache {
 public:
  struct Entry {
    std::unique_ptr<uint8_t[]> memory;
    const uint8_t* data = nullptr;
    int64_t count = 0;
    Version version;
  };

  static std::shared_ptr<ObjectCache> current();   // or null
  static void use(std::string folder, int64_t limit);   // "": none

  ObjectCache(std::string folder, int64_t limit);
  bool has(std::string_view name, int64_t begin, int64_t bytes) const;
  // Those of this version, where one is known. Others count as none, and so do broken ones.
  std::optional<Entry> load(std::string_view name, int64_t begin, int64_t bytes, Version known) const;
  // Where the disk refuses it, nothing is kept.
  void store(std::string_view name, int64_t begin, int64_t bytes, const uint8_t* data, int64_t count, Version version);

 private:
  struct File;
  std::string path_of(std::string_view name, int64_t begin, int64_t bytes) const;
  std::vector<File> files() const;
  bool make_room(int64_t bytes);
  void write(std::string_view name, int64_t begin, int64_t bytes, const uint8_t* data, int64_t count, Version version);

  const std::string folder_;
  const int64_t limit_;
  std::mutex mutex_;
  int64_t held_ = -1, added_ = 0;                  // bytes: when they were last counted, and what was added since
  int64_t coming_ = 0;                             // of entries that are being written
  std::atomic<int64_t> names_{0};
};

}  // namespace ps
