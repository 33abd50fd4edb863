// Reads whole files: index of the sample -> its bytes and its label.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "core/bytes_setting.h"
#include "core/operator.h"
#include "core/waiting.h"

namespace ps {

class ReadFile : public Operator {
 public:
  static constexpr Count kOutputs{1, 2};
  // The names are relative to the root unless they are absolute. They are joined once: errors and source_info() show
  // the whole path as long as the data set is in use.
  explicit ReadFile(const Spec& s)
      : labels_(s.arg<int32_t>("labels")), with_labels_(s.num_outputs > 1), most_(bytes_setting(kVariable, kMost)) {
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
    if (i < 0 || i >= int64_t(starts_.size()))
      fail(ErrorKind::argument, "there is no file " + std::to_string(i) + ": there are " + std::to_string(starts_.size()));
    const char* path = paths_.data() + starts_[size_t(i)];
    for (int k = 0; k < c.num_outputs; k++) c.out(k).source = path;
    const struct stat info = c.st<OpenFile>().open(path);
    if (size_t(info.st_size) > most_) {
      c.st<OpenFile>().close();
      fail(ErrorKind::read, std::string("the file ") + path + " has " + std::to_string(info.st_size) +
           " bytes, and files are read whole: " + kVariable + " allows " + std::to_string(most_));
    }
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
      const ssize_t n = f.read(to, left);
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
  static constexpr const char* kVariable = "PENSTOCK_MAX_FILE_BYTES";
  static constexpr size_t kMost = size_t(2) << 30;   // the largest picture that decoders take, uncompressed, has room

  // Each call may block for as long as a disk or server likes.
  struct OpenFile : State {
    int fd = -1;
    const char* path = nullptr;
    ~OpenFile() override { close(); }
    struct stat open(const char* name) {
      close();
      path = name;
      const Wait wait(path);
      do fd = ::open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);   // a pipe that nobody writes to opens at once, too
      while (fd < 0 && errno == EINTR);
      struct stat info;
      if (fd < 0 || ::fstat(fd, &info)) refuse(path, "cannot be opened", errno);
      if (S_ISDIR(info.st_mode)) refuse(path, "cannot be read", EISDIR);
      if (!S_ISREG(info.st_mode)) refuse(path, "cannot be read: it is a device or a pipe", 0);
      return info;
    }
    ssize_t read(uint8_t* to, int64_t bytes) const {
      constexpr int64_t most = int64_t(1) << 26;   // so that time limits are about a disk's answers, not a file's size
      const Wait wait(path);
      return ::read(fd, to, size_t(std::min(bytes, most)));
    }
    void close() {
      if (fd < 0) return;
      const Wait wait(path);
      ::close(fd);
      fd = -1;
    }
  };

  [[noreturn]] static void refuse(const char* path, const char* what, int error) {
    std::string text = std::string("the file ") + path + " " + what;
    const bool shortage = error == EMFILE || error == ENFILE || error == ENOMEM;     // another file would fare no better
    fail(shortage ? ErrorKind::system : ErrorKind::read, error ? text + ": " + std::strerror(error) : text);
  }

  Arg<int32_t> labels_;
  bool with_labels_;
  size_t most_;                        // bytes of a file
  std::string paths_;                  // one behind the other, each with a zero at its end
  std::vector<size_t> starts_;
};

PS_OPERATOR("read_file", ReadFile)

}  // namespace ps
