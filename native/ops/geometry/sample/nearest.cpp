// The nearest pixels at any positions, for all types.
#include "ops/geometry/sample/write.h"

namespace ps {

template SampleRow sample_row<device::kSampleNearest>(DType, const device::SampleFields&);

}  // namespace ps
