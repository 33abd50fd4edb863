#include "ops/boxes/random_bbox_crop/operator.h"

namespace ps {

PS_OPERATOR("random_bbox_crop", RandomBboxCrop)

}  // namespace ps
