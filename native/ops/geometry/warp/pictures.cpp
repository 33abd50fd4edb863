// Pictures that are blended of neighbours, for all types.
#include "ops/geometry/warp/write.h"

namespace ps {

template WarpRows<2> warp_rows<2, false>(DType, DType, int);

}  // namespace ps
