// IEEE 754 binary16 on the host.
#pragma once

#include "device/base/half.h"

namespace ps {
using half = device::half;
}
