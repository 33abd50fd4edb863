// The algorithm "default_npp".
#include "ops/color/debayer/mirrored.h"

namespace ps {

template class MirroredDebayer<uint8_t, device::kDebayerChroma>;
template class MirroredDebayer<uint16_t, device::kDebayerChroma>;

}  // namespace ps
