// Names in the tables of an index, and what is wrong with tables.
#pragma once

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/table.h"

namespace ps {

// Texts one behind the other, each with a zero at its end.
class Names {
 public:
  explicit Names(Table text) : text_(std::move(text)) {
    const char* begin = text_.as<char>();
    const char* end = begin + text_.bytes();
    if (begin != end && end[-1]) fail(ErrorKind::argument, "the last of the names has no end");
    for (const char* at = begin; at != end; at = static_cast<const char*>(std::memchr(at, 0, size_t(end - at))) + 1)
      starts_.push_back(size_t(at - begin));
  }
  int64_t size() const { return int64_t(starts_.size()); }
  const char* operator[](int64_t i) const { return text_.as<char>() + starts_[size_t(i)]; }

 private:
  Table text_;
  std::vector<size_t> starts_;
};

inline void check_table(bool good, const char* problem) {
  if (!good) fail(ErrorKind::argument, std::string("the index of a data set: ") + problem);
}

}  // namespace ps
