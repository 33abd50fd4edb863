// The C ABI over building an index of JPEG files.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <vector>

#include "abi/guard.h"
#include "decode/jpeg/index_writer.h"
#include "penstock.h"

using namespace ps;

struct ps_jpeg_index {
  jpeg::IndexWriter writer;
  explicit ps_jpeg_index(const char* path) : writer(path) {}
};

namespace {

struct Descriptor {
  int number;
  ~Descriptor() { if (number >= 0) ::close(number); }
};

class InputFile {
 public:
  // Pipes and devices have size 0.
  explicit InputFile(const char* path) : path_(path), file_{::open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)} {
    struct stat info;
    if (file_.number < 0 || ::fstat(file_.number, &info)) refuse("cannot be opened", errno);
    bytes_ = S_ISREG(info.st_mode) ? info.st_size : 0;
  }

  int64_t bytes() const { return bytes_; }

  void read(uint8_t* to, int64_t bytes, int64_t at) const {
    while (bytes > 0) {
      const ssize_t n = ::pread(file_.number, to, size_t(bytes), at);
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) refuse("cannot be read", errno);
      if (n == 0) refuse("became shorter while it was read", 0);
      to += n, at += n, bytes -= n;
    }
  }

 private:
  [[noreturn]] void refuse(const char* what, int error) const {
    const std::string text = std::string("the file ") + path_ + " " + what;
    fail(ErrorKind::read, error ? text + ": " + std::strerror(error) : text);
  }

  const char* path_;
  Descriptor file_;
  int64_t bytes_ = 0;
};

jpeg::Indexed add_range(jpeg::IndexWriter& writer, const InputFile& file, int64_t begin, int64_t bytes) {
  constexpr int64_t start = 3;                     // what a JPEG file begins with: others are not read any further
  thread_local std::vector<uint8_t> contents;
  if (begin < 0 || begin > file.bytes() || bytes > file.bytes() - begin)
    fail(ErrorKind::read, "the file became shorter while it was read");
  if (bytes < 0) bytes = file.bytes() - begin;
  if (bytes < start) return jpeg::Indexed::not_jpeg;
  contents.resize(size_t(start));
  file.read(contents.data(), start, begin);
  if (!jpeg::IndexWriter::is_jpeg(contents.data(), size_t(start))) return jpeg::Indexed::not_jpeg;
  contents.resize(size_t(bytes));
  file.read(contents.data() + start, bytes - start, begin + start);
  return writer.add(contents.data(), contents.size());
}

}  // namespace

ps_jpeg_index* ps_jpeg_index_create(const char* path) {
  ps_jpeg_index* made = nullptr;
  guarded([&] {
    made = new ps_jpeg_index(path);
    return 0;
  });
  return made;
}

int ps_jpeg_index_add(ps_jpeg_index* index, const char* path, const int64_t* ranges, int n, int32_t* became) {
  return guarded([&] {
    const InputFile file(path);
    for (int i = 0; i < n; i++)
      became[i] = int32_t(add_range(index->writer, file, ranges[2 * i], ranges[2 * i + 1]));
    return 0;
  });
}

int ps_jpeg_index_finish(ps_jpeg_index* index) {
  return guarded([&] {
    index->writer.finish();
    return 0;
  });
}

void ps_jpeg_index_destroy(ps_jpeg_index* index) { delete index; }
