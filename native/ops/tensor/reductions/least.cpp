// The least element, for all types.
#include "ops/tensor/reductions/rows.h"

namespace ps {

template void reduce<device::MinFold>(DType, const ReducedShape&, Arena&, const double*, const void*, void*);

}  // namespace ps
