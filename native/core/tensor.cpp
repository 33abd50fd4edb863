#include "core/tensor.h"

#include "core/error.h"

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

void check_sound(const Tensor& t) {
  if (t.is_sound()) return;
  if (!size_of(t.dtype)) fail(ErrorKind::type, "no tensor has the type number " + std::to_string(int(t.dtype)));
  if (t.shape.ndim < 0 || t.shape.ndim > kMaxDims)
    fail(ErrorKind::argument, std::to_string(t.shape.ndim) + " axes; at most " + std::to_string(kMaxDims) + " can be");
  const std::string shape = to_string(t.shape);
  if (std::any_of(t.shape.dims, t.shape.dims + t.shape.ndim, [](int64_t extent) { return extent < 0; }))
    fail(ErrorKind::argument, "the shape " + shape + " has a negative extent");
  fail(ErrorKind::memory, "no memory holds a tensor of the shape " + shape + " and the type " + name_of(t.dtype));
}

}  // namespace ps
