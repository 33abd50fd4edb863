#include "core/bytes_setting.h"

#include <cstdint>
#include <cstdlib>
#include <string>

#include "core/error.h"

namespace ps {

size_t bytes_setting(const char* variable, size_t otherwise) {
  const char* text = std::getenv(variable);
  if (!text || !*text) return otherwise;
  char* end = nullptr;
  const size_t number = size_t(std::strtoull(text, &end, 10));
  const std::string unit = end;
  const int shift = unit == "K" ? 10 : unit == "M" ? 20 : unit == "G" ? 30 : 0;
  if (end == text || *text == '-' || (!unit.empty() && !shift) || number > SIZE_MAX >> shift)
    fail(ErrorKind::argument,
         std::string(variable) + "=" + text + ": expected a number of bytes, such as 8000000000 or 8G");
  return number << shift;
}

}  // namespace ps
