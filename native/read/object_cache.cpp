#include "read/object_cache.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <utility>

#include "read/crc32c.h"

namespace ps {
namespace {

constexpr const char* kFolder = "/objects-1/";     // its number is that of the format
constexpr char kMagic[16] = {'P', 'e', 'n', 's', 't', 'o', 'c', 'k', ' ', 'o', 'b', 'j', 'e', 'c', 't', '\n'};
constexpr const char* kUnfinished = ".unfinished-";
constexpr int64_t kStale = 3600;                   // seconds after which nobody goes on with an unfinished file
constexpr size_t kDigits = 32;                     // of an entry's name

struct Head {
  char magic[16];
  int64_t begin, bytes, count;
  Version version;
  uint32_t name_bytes, checksum;                   // of the data
};

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() { if (fd_ >= 0) ::close(fd_); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }

  bool read(void* to, int64_t bytes) const {
    auto* next = static_cast<uint8_t*>(to);
    while (bytes > 0) {
      const ssize_t n = ::read(fd_, next, size_t(bytes));
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) return false;
      next += n, bytes -= n;
    }
    return true;
  }
  bool write(const void* from, int64_t bytes) const {
    const auto* next = static_cast<const uint8_t*>(from);
    while (bytes > 0) {
      const ssize_t n = ::write(fd_, next, size_t(bytes));
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) return false;
      next += n, bytes -= n;
    }
    return true;
  }

 private:
  int fd_;
};

Descriptor open_entry(const std::string& path) {
  return Descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
}

// Whether one of us has written it.
bool is_own(const std::string& path) {
  const Descriptor file = open_entry(path);
  char magic[sizeof kMagic];
  return file && file.read(magic, sizeof magic) && !std::memcmp(magic, kMagic, sizeof magic);
}

bool may_replace(const std::string& path) {
  struct stat info;
  return ::lstat(path.c_str(), &info) || (S_ISREG(info.st_mode) && (info.st_size == 0 || is_own(path)));
}

// Whether a file is the entry of this range, and of this version where one is known. It is read up to the data.
bool is_of(const Descriptor& file, Head& head, std::string_view name, int64_t begin, int64_t bytes, Version known) {
  struct stat info;
  if (!file || ::fstat(file.get(), &info) || !file.read(&head, sizeof head)) return false;
  if (std::memcmp(head.magic, kMagic, sizeof kMagic) || head.begin != begin || head.bytes != bytes ||
      head.name_bytes != name.size() || head.count < 0 ||
      head.count != int64_t(info.st_size) - int64_t(sizeof head) - int64_t(name.size()))
    return false;
  if (known.bytes >= 0 && head.version != known) return false;
  std::string of(name.size(), '\0');
  return file.read(of.data(), int64_t(of.size())) && of == name;
}

template <class F> void each_in(const std::string& folder, F work) {
  DIR* open = ::opendir(folder.c_str());
  if (!open) return;
  while (const dirent* one = ::readdir(open))
    if (one->d_name[0] != '.' || std::strncmp(one->d_name, kUnfinished, std::strlen(kUnfinished)) == 0)
      work(std::string(one->d_name));
  ::closedir(open);
}

struct Current {
  std::mutex mutex;
  std::shared_ptr<ObjectCache> cache;
};
Current& state() {
  static Current& one = *new Current;
  return one;
}

}  // namespace

struct ObjectCache::File {
  std::string path;
  int64_t bytes, used_ns;
  bool unfinished;
};

std::shared_ptr<ObjectCache> ObjectCache::current() {
  std::lock_guard lock(state().mutex);
  return state().cache;
}

void ObjectCache::use(std::string folder, int64_t limit) {
  auto made = folder.empty() ? nullptr : std::make_shared<ObjectCache>(std::move(folder), limit);
  std::lock_guard lock(state().mutex);
  state().cache = std::move(made);
}

ObjectCache::ObjectCache(std::string folder, int64_t limit) : folder_(std::move(folder) + kFolder), limit_(limit) {}

std::string ObjectCache::path_of(std::string_view name, int64_t begin, int64_t bytes) const {
  const std::string key = std::string(name) + '\n' + std::to_string(begin) + '\n' + std::to_string(bytes);
  char digits[kDigits + 1];
  std::snprintf(digits, sizeof digits, "%016llx%016llx", (unsigned long long)hash_of(key),
                (unsigned long long)hash_of(key, 1));
  return folder_ + std::string(digits, 2) + "/" + digits;
}

bool ObjectCache::has(std::string_view name, int64_t begin, int64_t bytes) const {
  Head head;
  const Descriptor file = open_entry(path_of(name, begin, bytes));
  return is_of(file, head, name, begin, bytes, {});
}

std::optional<ObjectCache::Entry> ObjectCache::load(std::string_view name, int64_t begin, int64_t bytes,
                                                    Version known) const {
  const std::string path = path_of(name, begin, bytes);
  Head head;
  const Descriptor file = open_entry(path);
  if (!is_of(file, head, name, begin, bytes, known)) return std::nullopt;
  Entry entry;
  entry.memory.reset(new uint8_t[size_t(head.count)]);
  if (!file.read(entry.memory.get(), head.count) ||
      masked_crc32c(entry.memory.get(), size_t(head.count)) != head.checksum) {
    ::unlink(path.c_str());                        // it is one of ours, and the disk has lost what was in it
    return std::nullopt;
  }
  entry.data = entry.memory.get();
  entry.count = head.count;
  entry.version = head.version;
  ::futimens(file.get(), nullptr);                 // it was used just now
  return entry;
}

void ObjectCache::store(std::string_view name, int64_t begin, int64_t bytes, const uint8_t* data, int64_t count,
                        Version version) {
  const int64_t all = int64_t(sizeof(Head) + name.size()) + count;
  if (!make_room(all)) return;
  write(name, begin, bytes, data, count, version);
  std::lock_guard lock(mutex_);
  coming_ -= all;
}

void ObjectCache::write(std::string_view name, int64_t begin, int64_t bytes, const uint8_t* data, int64_t count,
                        Version version) {
  const std::string path = path_of(name, begin, bytes), folder = path.substr(0, path.rfind('/'));
  if (!may_replace(path)) return;
  ::mkdir(folder_.substr(0, folder_.size() - sizeof("objects-1")).c_str(), 0777);
  ::mkdir(folder_.c_str(), 0777);
  ::mkdir(folder.c_str(), 0777);
  const std::string unfinished =
      folder + "/" + kUnfinished + std::to_string(::getpid()) + "-" + std::to_string(names_++) + "-" +
      std::to_string(hash_of(path, uint64_t(::time(nullptr))));
  bool whole = false;
  {
    const Descriptor file(::open(unfinished.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666));
    if (!file) return;
    Head head{};
    std::memcpy(head.magic, kMagic, sizeof kMagic);
    head.begin = begin, head.bytes = bytes, head.count = count, head.version = version;
    head.name_bytes = uint32_t(name.size());
    head.checksum = masked_crc32c(data, size_t(count));
    whole = file.write(&head, sizeof head) && file.write(name.data(), int64_t(name.size())) && file.write(data, count);
  }
  if (!whole || ::rename(unfinished.c_str(), path.c_str())) ::unlink(unfinished.c_str());
}

std::vector<ObjectCache::File> ObjectCache::files() const {
  std::vector<File> found;
  each_in(folder_, [&](const std::string& part) {
    if (part.size() != 2) return;
    each_in(folder_ + part, [&](const std::string& name) {
      const bool unfinished = name[0] == '.';
      if (!unfinished && (name.size() != kDigits || name.find_first_not_of("0123456789abcdef") != name.npos)) return;
      File one{folder_ + part + "/" + name, 0, 0, unfinished};
      struct stat info;
      if (::lstat(one.path.c_str(), &info) || !S_ISREG(info.st_mode)) return;
      one.bytes = info.st_size;
      one.used_ns = int64_t(info.st_mtim.tv_sec) * 1'000'000'000 + info.st_mtim.tv_nsec;
      found.push_back(std::move(one));
    });
  });
  return found;
}

// What other processes have added since the files were counted is not known, so they are counted again when this one
// has added a thirty-second of the limit.
bool ObjectCache::make_room(int64_t bytes) {
  if (bytes > limit_ / 2) return false;
  std::lock_guard lock(mutex_);
  if (held_ >= 0 && added_ + bytes <= limit_ / 32 && held_ + added_ + bytes <= limit_) {
    added_ += bytes;
    coming_ += bytes;
    return true;
  }
  std::vector<File> all = files();
  held_ = 0;
  for (const File& file : all) held_ += file.bytes;
  added_ = coming_;                                // of which some may have been counted
  if (held_ + added_ + bytes > limit_) {
    // One process at a time clears up; others keep nothing meanwhile.
    const Descriptor turn(::open((folder_ + "turn").c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666));
    if (!turn || ::flock(turn.get(), LOCK_EX | LOCK_NB)) return false;
    std::sort(all.begin(), all.end(), [](const File& a, const File& b) { return a.used_ns < b.used_ns; });
    const int64_t now = ::time(nullptr);
    for (const File& file : all) {
      if (held_ + added_ + bytes <= limit_ - limit_ / 8) break;
      if (file.unfinished && now - file.used_ns / 1'000'000'000 < kStale) continue;
      if (is_own(file.path) && !::unlink(file.path.c_str())) held_ -= file.bytes;
    }
    if (held_ + added_ + bytes > limit_) return false;
  }
  added_ += bytes;
  coming_ += bytes;
  return true;
}

}  // namespace ps
