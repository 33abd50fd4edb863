#include "read/archive.h"

namespace ps {
namespace {

// No file's name goes on behind a zero.
std::string_view c_string(std::string_view text) { return text.substr(0, text.find('\0')); }

}  // namespace

void Members::add(std::string_view name, int64_t offset, int64_t bytes) {
  name = c_string(name);
  const size_t part = name.rfind('/') + 1;         // npos + 1 is 0
  const size_t dot = name.find('.', part);
  const std::string_view stem = name.substr(0, dot);
  if (stem.empty()) return;
  if (!samples_ || stem != last_) begin_sample();
  last_ = stem;
  const bool has_dot = dot != name.npos;           // without one it is an extension as a whole
  add(has_dot ? name.substr(dot + 1) : name, name, offset, bytes);
}

void Members::add(std::string_view extension, std::string_view name, int64_t offset, int64_t bytes) {
  extension = c_string(extension);
  auto number = numbers_.find(extension);
  if (number == numbers_.end()) {
    number = numbers_.emplace(extension, int32_t(numbers_.size())).first;
    extensions_.append(extension).push_back('\0');
  }
  name = c_string(name);
  offsets_.push_back(offset);
  bytes_.push_back(bytes);
  sample_.push_back(samples_ - 1);
  extension_.push_back(number->second);
  names_.append(name).push_back('\0');
}

}  // namespace ps
