// The largest of the pixels around each.
#include "ops/filter/morphology.h"

namespace ps {

using Dilate = MorphologyOperator<true>;

PS_OPERATOR("dilate", Dilate)

}  // namespace ps
