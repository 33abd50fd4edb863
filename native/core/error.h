// What goes wrong in native code, on its way to the exception tree in penstock/errors.py.
#pragma once

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "penstock.h"

namespace ps {

// penstock/errors.py maps them to classes.
enum class ErrorKind : int {
  internal = PS_ERROR_INTERNAL, argument = PS_ERROR_ARGUMENT, type = PS_ERROR_TYPE, read = PS_ERROR_READ,
  decode = PS_ERROR_DECODE, memory = PS_ERROR_MEMORY, unsupported = PS_ERROR_UNSUPPORTED, stopped = PS_ERROR_STOPPED,
  device = PS_ERROR_DEVICE, layout = PS_ERROR_LAYOUT, axis = PS_ERROR_AXIS, system = PS_ERROR_SYSTEM,
  function = PS_ERROR_FUNCTION,
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

[[noreturn, gnu::cold, gnu::noinline]] inline void fail(ErrorKind kind, const std::string& what) {
  throw Error(kind, what);
}

}  // namespace ps
