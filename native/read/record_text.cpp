// Indexes that other programs make of files of records: two whole numbers a line.
#include <charconv>

#include "core/error.h"
#include "read/records.h"
#include "read/storage.h"

namespace ps {
namespace {

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r'; }

// The next number of a line, or -1.
int64_t number(const char*& at, const char* end) {
  while (at != end && is_space(*at)) ++at;
  int64_t value = -1;
  const auto [behind, error] = std::from_chars(at, end, value);
  const bool whole = error == std::errc() && (behind == end || is_space(*behind) || *behind == '\n');
  at = behind;
  return whole ? value : -1;
}

}  // namespace

RecordTable read_record_text(const char* path) {
  const auto file = open_file(path);
  std::string text(size_t(file->bytes()), 0);
  file->read_all(0, text.data(), file->bytes());
  RecordTable found;
  const char* at = text.data();
  const char* const end = at + text.size();
  for (int64_t line = 1; at != end; line++) {
    while (at != end && is_space(*at)) ++at;
    if (at != end && *at != '\n') {
      const int64_t first = number(at, end), second = first < 0 ? -1 : number(at, end);
      while (at != end && is_space(*at)) ++at;
      if (second < 0 || (at != end && *at != '\n'))
        fail(ErrorKind::read, std::string("the index ") + path + ": line " + std::to_string(line) +
             ": expected two whole numbers");
      found.add(first, second);
    }
    if (at != end) ++at;
  }
  return found;
}

}  // namespace ps
