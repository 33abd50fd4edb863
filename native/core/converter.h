// The conversion between two types that are known at run time.
#pragma once

#include <cstddef>

#include "core/tensor.h"

namespace ps {

// n numbers, as convert_n() of core/convert.h converts them; the two may not overlap.
using Convert = void (*)(const void* from, void* to, size_t n);
Convert converter(DType from, DType to);

}  // namespace ps
