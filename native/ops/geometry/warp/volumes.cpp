// Volumes that are blended of neighbours, for all types.
#include "ops/geometry/warp/write.h"

namespace ps {

template WarpRows<3> warp_rows<3, false>(DType, DType, int);

}  // namespace ps
