// Pictures whose pixels change places with their neighbours' at random.
#pragma once

#include "device/base/philox.h"
#include "device/geometry/displace.h"

namespace ps::device {

struct JitterMap {
  PhiloxSequence random;
  int32_t width, reach;                // pixels go as far, to each side
  PS_FN Position<2> position(int x, int y) const {
    const PhiloxWords words = random.block(uint32_t(int64_t(y) * width + x));
    const auto places = uint64_t(2 * int64_t(reach) + 1);
    const int dx = int(below(words.wide(0), places)) - reach, dy = int(below(words.wide(1), places)) - reach;
    return {{float(x + dx) + 0.5f, float(y + dy) + 0.5f}};
  }
};

}  // namespace ps::device
