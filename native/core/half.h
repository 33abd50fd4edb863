// IEEE 754 binary16 on the host.
#pragma once

namespace ps {
using half = _Float16;
}
