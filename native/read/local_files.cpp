// Files of the system: those whose names have no scheme.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "core/error.h"
#include "core/waiting.h"
#include "read/storage.h"

namespace ps {
namespace {

class LocalFile : public StoredFile {
 public:
  explicit LocalFile(const char* name, int flags = 0) : StoredFile(name) {
    const Wait wait(name);
    do fd_ = ::open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | flags);    // a pipe that nobody writes to opens at once,
    while (fd_ < 0 && errno == EINTR);                                   // too
    struct stat info;
    if (fd_ < 0 || ::fstat(fd_, &info)) give_up("cannot be opened", errno);
    if (S_ISDIR(info.st_mode)) give_up("cannot be read", EISDIR);
    if (!S_ISREG(info.st_mode)) give_up("cannot be read: it is a device or a pipe", 0);
    bytes_ = info.st_size;
  }
  ~LocalFile() override { close(); }
  int64_t bytes() const override { return bytes_; }
  int descriptor() const override { return fd_; }

  int64_t read(int64_t at, void* to, int64_t most) override {
    constexpr int64_t at_once = int64_t(1) << 26;   // so that time limits are about a disk's answers, not a file's size
    while (true) {
      const ssize_t n = [&] {
        const Wait wait(name());
        return ::pread(fd_, to, size_t(std::min(most, at_once)), off_t(at));
      }();
      if (n >= 0) return n;
      if (errno != EINTR) refuse_file(name(), "cannot be read", errno);
    }
  }

 private:
  [[noreturn]] void give_up(const char* what, int error) {
    close();
    refuse_file(name(), what, error);
  }
  void close() {
    if (fd_ < 0) return;
    const Wait wait(name());
    ::close(fd_);
    fd_ = -1;
  }

  int fd_ = -1;
  int64_t bytes_ = 0;
};

// Opened with O_DIRECT: only whole blocks can be read, to places in memory that are aligned as they are.
class FilePastCache : public LocalFile {
 public:
  explicit FilePastCache(const char* name) : LocalFile(name, O_DIRECT) {}

  int64_t read(int64_t at, void* to, int64_t most) override {
    const int64_t begin = at / kBlock * kBlock, skip = at - begin;
    const int64_t whole = most / kBlock * kBlock;
    if (!skip && whole && reinterpret_cast<uintptr_t>(to) % kBlock == 0) return LocalFile::read(at, to, whole);
    const int64_t wanted = std::min(kMost, (skip + most + kBlock - 1) / kBlock * kBlock);
    if (wanted > room_) {
      blocks_.reset(static_cast<uint8_t*>(std::aligned_alloc(kBlock, size_t(wanted))));
      room_ = blocks_ ? wanted : 0;
      if (!blocks_) refuse_file(name(), "cannot be read", ENOMEM);
    }
    const int64_t n = std::min(LocalFile::read(begin, blocks_.get(), wanted) - skip, most);
    if (n <= 0) return 0;
    std::memcpy(to, blocks_.get() + skip, size_t(n));
    return n;
  }

 private:
  struct Free {
    void operator()(void* p) const { std::free(p); }
  };
  static constexpr int64_t kBlock = 4096, kMost = int64_t(1) << 20;
  std::unique_ptr<uint8_t, Free> blocks_;
  int64_t room_ = 0;
};

class LocalFiles : public Storage {
 public:
  std::unique_ptr<StoredFile> open(const char* name) const override { return std::make_unique<LocalFile>(name); }
  std::unique_ptr<StoredFile> open_past_cache(const char* name) const override {
    try {
      return std::make_unique<FilePastCache>(name);
    } catch (const Error&) {
      return open(name);                           // its file system may refuse O_DIRECT; other errors come again
    }
  }
};

PS_STORAGE("", LocalFiles)

}  // namespace
}  // namespace ps
