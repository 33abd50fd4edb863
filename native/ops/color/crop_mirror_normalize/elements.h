// Elements that are normalized one by one, wherever they are.
#pragma once

#include "core/tensor.h"
#include "ops/color/crop_mirror_normalize/normalization.h"
#include "ops/gather/gather.h"

namespace ps {

// What `gather` finds, normalized: `in` into `out`.
void gather_normalized(const Gather& gather, const Normalization& normalization, const Tensor& in, const Tensor& out);

}  // namespace ps
