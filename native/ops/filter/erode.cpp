// The smallest of the pixels around each.
#include "ops/filter/morphology.h"

namespace ps {

using Erode = MorphologyOperator<false>;

PS_OPERATOR("erode", Erode)

}  // namespace ps
