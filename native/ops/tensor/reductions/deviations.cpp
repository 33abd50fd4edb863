// Sums of squared differences from a mean, for all types.
#include "ops/tensor/reductions/rows.h"

namespace ps {

template void reduce<device::DeviationFold>(DType, const ReducedShape&, Arena&, const double*, const void*, void*);

}  // namespace ps
