// Volumes of nearest pixels, for all types.
#include "ops/geometry/warp/write.h"

namespace ps {

template WarpRows<3> warp_rows<3, true>(DType, DType, int);

}  // namespace ps
