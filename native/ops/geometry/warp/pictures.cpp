// Warps of pictures, for all types.
#include "ops/geometry/warp/stage.h"

namespace ps {

template class Warper<2>;

}  // namespace ps
