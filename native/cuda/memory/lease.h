// The names that native/run and native/abi have for device_buffer.h.
#pragma once

#include "cuda/memory/device_buffer.h"

namespace ps::gpu {

using Lease = DeviceBuffer;
using LeaseRef = DeviceBufferRef;

}  // namespace ps::gpu
