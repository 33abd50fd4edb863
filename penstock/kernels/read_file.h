// Reads whole files: index of the sample -> its bytes and its label.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "core/operator.h"

namespace ps {

class ReadFile : public Operator {
 public:
  // The names are relative to the root unless they are absolute. They are joined once: errors and source_info() show
  // the whole path as long as the data set is in use.
  explicit ReadFile(const Spec& s) : labels_(s.arg<int32_t>("labels")), with_labels_(s.num_outputs > 1) {
    const std::string names = s.string("paths"), root = s.string("root");
    for (size_t at = 0; at < names.size();) {
      const char* name = names.data() + at;
      const size_t length = std::strlen(name) + 1;
      starts_.push_back(paths_.size());
      if (name[0] != '/') paths_ += root;
      paths_.append(name, length);
      at += length;
    }
  }

  std::unique_ptr<State> make_state() const override { return std::make_unique<OpenFile>(); }

  // The file stays open between the two calls, which come one right after the other on one thread.
  void setup(const Context& c) const override {
    const int64_t i = element_i64(c.in(0), 0);
    const char* path = paths_.data() + starts_[size_t(i)];
    for (int k = 0; k < c.num_outputs; k++) c.out(k).source = path;
    OpenFile& f = c.st<OpenFile>();
    f.close();
    f.fd = ::open(path, O_RDONLY | O_CLOEXEC);
    struct stat info;
    if (f.fd < 0 || ::fstat(f.fd, &info)) refuse(path, "cannot be opened", errno);
    if (S_ISDIR(info.st_mode)) refuse(path, "cannot be read", EISDIR);
    c.out(0).dtype = DType::u8;
    c.out(0).shape = {int64_t(info.st_size)};
    c.out(0).layout = {};
    if (with_labels_) {
      c.out(1).dtype = DType::i32;
      c.out(1).shape = {1};
      c.out(1).layout = {};
    }
  }

  void run(const Context& c) const override {
    OpenFile& f = c.st<OpenFile>();
    uint8_t* to = c.out(0).as<uint8_t>();
    int64_t left = c.out(0).shape[0];
    while (left > 0) {
      const ssize_t n = ::read(f.fd, to, size_t(left));
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) refuse(c.out(0).source, "cannot be read", errno);
      if (n == 0) refuse(c.out(0).source, "became shorter while it was read", 0);
      to += n;
      left -= n;
    }
    f.close();
    if (with_labels_) *c.out(1).as<int32_t>() = labels_.get(c, element_i64(c.in(0), 0));
  }

 private:
  struct OpenFile : State {
    int fd = -1;
    ~OpenFile() override { close(); }
    void close() {
      if (fd >= 0) ::close(fd);
      fd = -1;
    }
  };

  [[noreturn]] static void refuse(const char* path, const char* what, int error) {
    std::string text = std::string("the file ") + path + " " + what;
    fail(ErrorKind::read, error ? text + ": " + std::strerror(error) : text);
  }

  Arg<int32_t> labels_;
  bool with_labels_;
  std::string paths_;                  // one behind the other, each with a zero at its end
  std::vector<size_t> starts_;
};

PS_OPERATOR("read_file", ReadFile)

}  // namespace ps
