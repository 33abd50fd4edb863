// Pictures of nearest pixels, for all types.
#include "ops/geometry/warp/write.h"

namespace ps {

template WarpRows<2> warp_rows<2, true>(DType, DType, int);

}  // namespace ps
