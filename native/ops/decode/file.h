// What decoders take: the bytes of files.
#pragma once

#include <string>

#include "core/operator.h"

namespace ps {

// Throws Error(type) if the tensor is not the bytes of a file.
inline void check_file(const Tensor& file) {
  if (size_of(file.dtype) != 1 || file.shape.ndim != 1)
    fail(ErrorKind::type, std::string("expected the bytes of a file (1-D, UINT8), got ") + name_of(file.dtype) +
         " of shape " + to_string(file.shape));
}

}  // namespace ps
