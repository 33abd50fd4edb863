// Sums of elements, for all types.
#include "ops/tensor/reductions/rows.h"

namespace ps {

template void reduce<device::SumFold>(DType, const ReducedShape&, Arena&, const double*, const void*, void*);

}  // namespace ps
