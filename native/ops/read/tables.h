// The tables of a data set's index (penstock/read/index.py), as the operators that read by it see them.
#pragma once

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "core/operator.h"

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

[[noreturn, gnu::cold, gnu::noinline]] inline void fail_table(const char* problem) {
  fail(ErrorKind::argument, std::string("the index of a data set: ") + problem);
}
inline void check_table(bool good, const char* problem) {
  if (!good) fail_table(problem);
}

// Where in another table the rows of each sample begin; the last is where they end.
inline void check_starts(const Table& starts, int64_t items, int64_t rows) {
  const int64_t* at = starts.as<int64_t>();
  check_table(starts.rows() == items + 1 && at[0] == 0 && at[items] == rows && std::is_sorted(at, at + items + 1),
              "a table of starts does not fit");
}

// One row for each sample, or with starts any number of them.
struct Column {
  Table values, starts;
  size_t row_bytes = 0;

  Column(const Spec& s, int number)
      : values(s.table(name(number))), starts(s.table(name(number) + "_starts", DType::i64)) {
    check_table(values.shape().ndim > 0, "a column has no axis");
    row_bytes = size_of(values.dtype());
    for (int i = 1; i < values.shape().ndim; i++) row_bytes *= size_t(values.shape()[i]);
  }
  void check(int64_t samples) const {
    if (starts) check_starts(starts, samples, values.rows());
    else check_table(values.rows() == samples, "a column has another number of rows than there are samples");
  }
  int64_t first(int64_t sample) const { return starts ? starts.as<int64_t>()[sample] : sample; }
  void setup(int64_t sample, Tensor& out) const {
    out.dtype = values.dtype();
    out.shape = {};
    out.layout = {};
    if (starts) out.shape.push(first(sample + 1) - first(sample));
    for (int i = 1; i < values.shape().ndim; i++) out.shape.push(values.shape()[i]);
  }
  void run(int64_t sample, Tensor& out) const {
    const size_t bytes = out.bytes();
    if (bytes) std::memcpy(out.data, values.as<uint8_t>() + size_t(first(sample)) * row_bytes, bytes);
  }

 private:
  static std::string name(int number) { return "column" + std::to_string(number); }
};

}  // namespace ps
