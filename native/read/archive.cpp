#include "read/archive.h"

namespace ps {

void Members::add(std::string_view name, int64_t offset, int64_t bytes) {
  const size_t part = name.rfind('/') + 1;         // npos + 1 is 0
  const size_t dot = name.find('.', part);
  const std::string_view stem = name.substr(0, dot);
  if (stem.empty()) return;
  if (!samples_ || stem != last_) begin_sample();
  last_ = stem;
  add(dot == name.npos ? name : name.substr(dot + 1), name, offset, bytes);   // without a dot it is an extension as a whole
}

void Members::add(std::string_view extension, std::string_view name, int64_t offset, int64_t bytes) {
  auto number = numbers_.find(extension);
  if (number == numbers_.end()) {
    number = numbers_.emplace(extension, int32_t(numbers_.size())).first;
    extensions_.append(extension).push_back('\0');
  }
  offsets_.push_back(offset);
  bytes_.push_back(bytes);
  sample_.push_back(samples_ - 1);
  extension_.push_back(number->second);
  names_.append(name).push_back('\0');
}

}  // namespace ps
