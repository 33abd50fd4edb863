#include "read/memory_files.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "core/error.h"
#include "read/storage.h"

namespace ps {
namespace {

using Contents = std::shared_ptr<const std::vector<uint8_t>>;

struct Files {
  std::mutex mutex;
  std::map<std::string, Contents, std::less<>> by_name;
};

Files& files() {
  static Files& all = *new Files;      // never destroyed, as other storages
  return all;
}

class MemoryFile : public StoredFile {
 public:
  MemoryFile(const char* name, Contents contents) : StoredFile(name), contents_(std::move(contents)) {}
  int64_t bytes() const override { return int64_t(contents_->size()); }
  int64_t read(int64_t at, void* to, int64_t most) override {
    const int64_t n = std::clamp<int64_t>(bytes() - at, 0, most);
    if (n) std::memcpy(to, contents_->data() + at, size_t(n));
    return n;
  }

 private:
  Contents contents_;
};

class MemoryFiles : public Storage {
 public:
  std::unique_ptr<StoredFile> open(const char* name) const override {
    std::lock_guard lock(files().mutex);
    const auto found = files().by_name.find(std::string_view(name));
    if (found == files().by_name.end()) refuse_file(name, "cannot be opened", ENOENT);
    return std::make_unique<MemoryFile>(name, found->second);
  }
};

PS_STORAGE("memory", MemoryFiles)

}  // namespace

void put_memory_file(const std::string& name, const void* data, size_t bytes) {
  if (scheme_of(name) != "memory") fail(ErrorKind::argument, "the name " + name + " does not begin with memory://");
  const auto* from = static_cast<const uint8_t*>(data);
  auto contents = std::make_shared<const std::vector<uint8_t>>(from, from + bytes);
  std::lock_guard lock(files().mutex);
  files().by_name[name] = std::move(contents);
}

void remove_memory_file(const std::string& name) {
  std::lock_guard lock(files().mutex);
  files().by_name.erase(name);
}

}  // namespace ps
