// The algorithm "vng_ocv".
#include "ops/color/debayer/mirrored.h"

namespace ps {

template class MirroredDebayer<uint8_t, device::kDebayerGradients>;

}  // namespace ps
