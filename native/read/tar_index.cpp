// Indexes that wds2idx makes of WebDataset's archives. A line "v1.2 SAMPLES", then one for each sample: EXTENSION
// OFFSET BYTES NAME of each of its files, with spaces between; v1.1 has no names.
#include <algorithm>
#include <charconv>
#include <memory>

#include "core/error.h"
#include "read/archive.h"
#include "read/storage.h"

namespace ps {
namespace {

class Index {
 public:
  explicit Index(const char* path) : path_(path) {
    const auto file = open_file(path);
    text_.resize(size_t(file->bytes()));
    file->read_all(0, text_.data(), file->bytes());
    left_ = text_;
  }

  Members members() {
    std::string_view words = line();
    const std::string_view version = word(words);
    if (version != "v1.1" && version != "v1.2") refuse("expected v1.1 or v1.2, the version of the format");
    int64_t samples = 0;
    if (!whole(word(words), samples) || samples < 1) refuse("expected the number of samples behind the version");
    Members found;
    for (int64_t i = 0; i < samples; i++) {
      words = line();
      found.begin_sample();
      std::string_view extension = word(words);
      if (extension.empty()) refuse("expected the files of a sample");
      for (; !extension.empty(); extension = word(words)) {
        int64_t offset = 0, bytes = 0;
        const bool good = whole(word(words), offset) && whole(word(words), bytes);
        const std::string_view name = version == "v1.2" ? word(words) : std::string_view();
        if (!good || (version == "v1.2" && name.empty()))
          refuse(version == "v1.2" ? "expected EXTENSION OFFSET BYTES NAME of each file"
                                   : "expected EXTENSION OFFSET BYTES of each file");
        if (offset % kTarBlock)
          refuse("the offset " + std::to_string(offset) + " is no multiple of 512, so no file begins there");
        found.add(extension, name, offset, bytes);
      }
    }
    return found;
  }

 private:
  std::string_view line() {
    number_++;
    const size_t end = left_.find('\n');
    const std::string_view found = left_.substr(0, end);
    left_.remove_prefix(end == left_.npos ? left_.size() : end + 1);
    return found;
  }

  static std::string_view word(std::string_view& text) {
    constexpr const char* spaces = " \t\r\v\f";
    text.remove_prefix(std::min(text.find_first_not_of(spaces), text.size()));
    const std::string_view found = text.substr(0, text.find_first_of(spaces));
    text.remove_prefix(found.size());
    return found;
  }

  static bool whole(std::string_view text, int64_t& number) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return error == std::errc() && end == text.data() + text.size() && number >= 0;
  }

  [[noreturn]] void refuse(const std::string& problem) const {
    fail(ErrorKind::read, "the index " + path_ + ": line " + std::to_string(number_) + ": " + problem);
  }

  std::string path_, text_;
  std::string_view left_;
  int64_t number_ = 0;
};

}  // namespace

Members read_tar_index(const char* path) { return Index(path).members(); }

}  // namespace ps
