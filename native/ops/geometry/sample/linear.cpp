// Pixels blended of two by two at any positions, for all types.
#include "ops/geometry/sample/write.h"

namespace ps {

template SampleRow sample_row<device::kSampleLinear>(DType, const device::SampleFields&);

}  // namespace ps
