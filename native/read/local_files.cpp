// Files of the system: those whose names have no scheme.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "core/waiting.h"
#include "read/storage.h"

namespace ps {
namespace {

class LocalFile : public StoredFile {
 public:
  explicit LocalFile(const char* name) : StoredFile(name) {
    const Wait wait(name);
    do fd_ = ::open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);    // a pipe that nobody writes to opens at once, too
    while (fd_ < 0 && errno == EINTR);
    struct stat info;
    if (fd_ < 0 || ::fstat(fd_, &info)) give_up("cannot be opened", errno);
    if (S_ISDIR(info.st_mode)) give_up("cannot be read", EISDIR);
    if (!S_ISREG(info.st_mode)) give_up("cannot be read: it is a device or a pipe", 0);
    bytes_ = info.st_size;
  }
  ~LocalFile() override { close(); }
  int64_t bytes() const override { return bytes_; }

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

class LocalFiles : public Storage {
 public:
  std::unique_ptr<StoredFile> open(const char* name) const override { return std::make_unique<LocalFile>(name); }
};

PS_STORAGE("", LocalFiles)

}  // namespace
}  // namespace ps
