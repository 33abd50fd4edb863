// Warps of volumes, for all types.
#include "ops/geometry/warp/stage.h"

namespace ps {

template class Warper<3>;

}  // namespace ps
