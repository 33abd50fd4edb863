// What goes wrong in native code, on its way to the exception tree in penstock/errors.py.
#pragma once

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace ps {

// The numbers are part of the C ABI: penstock/errors.py maps them to classes.
enum class ErrorKind : int {
  internal = 1, argument = 2, type = 3, read = 4, decode = 5, memory = 6, unsupported = 7, stopped = 8,
  device = 9,
  layout = 10,                         // axes that do not fit the operator: an argument as well
  axis = 11,                           // no such axis or element
  system = 12,                         // a file could not be read through no fault of its own: others would fail as
                                       // well
  function = 13,                       // a Python function of the user's
};

struct Error : std::runtime_error {
  ErrorKind kind;
  int sample;                          // of a batch, where that is not clear from where it is thrown
  Error(ErrorKind k, const std::string& what, int sample_ = -1) : std::runtime_error(what), kind(k), sample(sample_) {}
};

// Of several samples of a batch; as an Error it is the first one's.
struct Errors : Error {
  std::vector<Error> all;              // at least one
  explicit Errors(std::vector<Error> errors) : Error(first(errors)), all(std::move(errors)) {}

 private:
  static const Error& first(const std::vector<Error>& errors) {
    return *std::min_element(errors.begin(), errors.end(), [](auto& a, auto& b) { return a.sample < b.sample; });
  }
};

[[noreturn]] inline void fail(ErrorKind kind, const std::string& what) { throw Error(kind, what); }

}  // namespace ps
