// The headers of tar archives: POSIX.1-1988 (ustar), POSIX.1-2001 (pax), GNU's, and those of Unix V7.
#include <algorithm>
#include <charconv>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>

#include "core/error.h"
#include "read/archive.h"
#include "read/storage.h"

namespace ps {
namespace {

constexpr int64_t kLongest = 1 << 20;              // of a name, or of pax records

struct Header {
  char name[100], mode[8], uid[8], gid[8], size[12], mtime[12], checksum[8], type, link[100], magic[6], version[2],
      user[32], group[32], major[8], minor[8], prefix[155], padding[12];
};
static_assert(sizeof(Header) == kTarBlock);

template <size_t N> std::string_view text(const char (&field)[N]) { return {field, strnlen(field, N)}; }

// Octal digits between spaces, or GNU's: 256 to the power of places where the first bit is set.
template <size_t N> std::optional<int64_t> number(const char (&field)[N]) {
  uint64_t value = 0;
  if (field[0] & 0x80) {
    value = field[0] & 0x3f;
    for (size_t i = 1; i < N; i++) {
      if (value >> 55) return {};
      value = value << 8 | uint8_t(field[i]);
    }
    return int64_t(value);
  }
  const char* at = std::find_if(field, field + N, [](char c) { return c != ' '; });
  for (; at != field + N && *at >= '0' && *at <= '7'; ++at) value = value << 3 | uint64_t(*at - '0');
  const bool ends = at == field + N || *at == ' ' || *at == 0;
  return ends ? std::optional(int64_t(value)) : std::nullopt;
}

bool is_header(const Header& h) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(&h);
  const size_t from = offsetof(Header, checksum), to = from + sizeof h.checksum;
  int64_t sum = 0, signed_sum = 0;                 // old programs took bytes for signed
  for (size_t i = 0; i < sizeof h; i++) {
    const uint8_t byte = i >= from && i < to ? ' ' : bytes[i];
    sum += byte;
    signed_sum += int8_t(byte);
  }
  const auto told = number(h.checksum);
  return told && (*told == sum || *told == signed_sum);
}

// What extended headers say about the file behind them.
struct Said {
  std::optional<std::string> name;
  std::optional<int64_t> size;
  bool sparse = false;
};

// The records of a pax header, "LENGTH KEY=VALUE\n" each.
void take_records(std::string_view records, Said& said) {
  while (!records.empty() && records[0]) {
    size_t length = 0, at = 0;
    while (at < records.size() && records[at] >= '0' && records[at] <= '9' && length < records.size())
      length = length * 10 + size_t(records[at++] - '0');
    const size_t equals = records.find('=', at);
    if (at >= records.size() || records[at] != ' ' || length > records.size() || equals >= length) return;
    const std::string_view key = records.substr(at + 1, equals - at - 1);
    const std::string_view value = records.substr(equals + 1, length - equals - 2);
    if (key == "path") said.name = value;
    if (key == "size") {
      int64_t bytes = 0;
      const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), bytes);
      if (error == std::errc() && bytes >= 0 && bytes < INT64_MAX / 4) said.size = bytes;
    }
    said.sparse |= key.starts_with("GNU.sparse.");
    records.remove_prefix(length);
  }
}

class Tar {
 public:
  explicit Tar(const char* path) : file_(open_file(path)) {}

  Members members() {
    Members found;
    Said said, always;                             // of the next file, of all that follow
    int empty = 0;
    for (int64_t at = 0; at < file_->bytes();) {
      const Header h = header(at);
      if (is_zero(h)) {                            // two of them are the end, one alone is nothing
        if (++empty == 2) break;
        at += kTarBlock;
        continue;
      }
      empty = 0;
      if (!is_header(h)) refuse(at);
      const auto size = number(h.size);
      if (!size || *size > INT64_MAX / 4) refuse(at);
      const int64_t data = at + kTarBlock;
      at = data + whole(*size);
      switch (h.type) {
        case 'x': take_records(contents(data, *size), said); continue;
        case 'g': take_records(contents(data, *size), always); continue;
        case 'L': said.name = std::string(contents(data, *size).c_str()); continue;
        case 'K': continue;                        // of a link
        default: break;
      }
      const int64_t bytes = said.size ? *said.size : always.size ? *always.size : *size;
      at = data + whole(bytes);
      const std::string name = said.name ? *said.name : always.name ? *always.name : name_of(h);
      const bool is_file = h.type == '0' || h.type == 0 || h.type == '7';
      if (is_file && !said.sparse && !name.empty() && name.back() != '/') {
        const size_t begin = name.find_first_not_of('/');
        found.add(std::string_view(name).substr(begin), data, bytes);
      }
      said = {};
    }
    return found;
  }

 private:
  static int64_t whole(int64_t bytes) { return (bytes + kTarBlock - 1) / kTarBlock * kTarBlock; }

  static bool is_zero(const Header& h) {
    const auto* bytes = reinterpret_cast<const uint8_t*>(&h);
    return std::all_of(bytes, bytes + sizeof h, [](uint8_t b) { return b == 0; });
  }

  static std::string name_of(const Header& h) {
    const bool posix = std::memcmp(h.magic, "ustar", 6) == 0;
    const std::string_view prefix = posix ? text(h.prefix) : std::string_view();
    return (prefix.empty() ? std::string() : std::string(prefix) + "/") + std::string(text(h.name));
  }

  // Through a buffer: several small files lie in it at a time.
  Header header(int64_t at) {
    constexpr int64_t at_once = 16 * kTarBlock;
    Header h;
    if (at < begin_ || at + kTarBlock > begin_ + int64_t(buffer_.size())) {
      const int64_t left = file_->bytes() - at;
      if (left < kTarBlock) refuse(at);
      buffer_.resize(size_t(std::min(left, at_once)));
      file_->read_all(at, buffer_.data(), int64_t(buffer_.size()));
      begin_ = at;
    }
    std::memcpy(&h, buffer_.data() + (at - begin_), sizeof h);
    return h;
  }

  std::string contents(int64_t at, int64_t bytes) {
    if (bytes > kLongest || bytes > file_->bytes() - at) refuse(at - kTarBlock);
    std::string text(size_t(bytes), '\0');
    file_->read_all(at, text.data(), bytes);
    return text;
  }

  [[noreturn]] void refuse(int64_t at) const {
    fail(ErrorKind::read, std::string("the file ") + file_->name() + " is no tar archive, or a broken one: there is no "
         "header at byte " + std::to_string(at) +
         ". (Compressed archives are not read: no file lies in them as it is.)");
  }

  std::unique_ptr<StoredFile> file_;
  std::string buffer_;
  int64_t begin_ = 0;
};

}  // namespace

Members read_tar(const char* path) { return Tar(path).members(); }

}  // namespace ps
