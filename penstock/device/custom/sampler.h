// Stages that move pixels, whose maps come from others' libraries (include/penstock/operator.h).
#pragma once

#include "device/custom/pixel.h"
#include "device/geometry/displace.h"

namespace ps::device {

// A functor as the host writes it, which does not know its type.
struct CustomMapBytes {
  alignas(16) unsigned char bytes[256];
};

// void operator()(float x, float y, float& from_x, float& from_y) const: middles of pixels.
template <class F> struct CustomMap : CustomMapBytes {
  static_assert(sizeof(F) <= sizeof(CustomMapBytes) && alignof(F) <= alignof(CustomMapBytes));
  PS_FN Position<2> position(int x, int y) const {
    const float to_x = float(x) + 0.5f, to_y = float(y) + 0.5f;
    Position<2> p{{to_x, to_y}};
    (*reinterpret_cast<const F*>(this->bytes))(to_x, to_y, p.v[0], p.v[1]);
    return p;
  }
};

}  // namespace ps::device
