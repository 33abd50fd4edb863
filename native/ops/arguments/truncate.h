// The conversions of crop and slice. Everywhere else DALI rounds (core/convert.h); there it cuts fractions off, and
// floats saturate too, at the largest finite value.
#pragma once

#include <vector>

#include "core/converter.h"

namespace ps {

Convert truncating_converter(DType from, DType to);

// These numbers as elements of that type, one behind the other.
std::vector<uint8_t> truncated(const std::vector<double>& numbers, DType to);

}  // namespace ps
