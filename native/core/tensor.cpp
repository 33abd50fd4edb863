#include "core/tensor.h"

namespace ps {

const char* name_of(DType t) {
  static const char* const names[] = {"UINT8", "UINT16", "UINT32", "UINT64", "INT8", "INT16", "INT32", "INT64",
                                      "FLOAT16", "FLOAT", "FLOAT64", "BOOL"};
  const int i = int(t);
  return i >= 0 && i < 12 ? names[i] : "NO_TYPE";
}

std::string to_string(const Shape& s) {
  std::string text = "(";
  for (int i = 0; i < s.ndim; i++) text += (i ? ", " : "") + std::to_string(s[i]);
  return text + (s.ndim == 1 ? ",)" : ")");
}

}  // namespace ps
