// Sums of squares, for all types.
#include "ops/tensor/reductions/rows.h"

namespace ps {

template void reduce<device::SquareFold>(DType, const ReducedShape&, Arena&, const double*, const void*, void*);

}  // namespace ps
