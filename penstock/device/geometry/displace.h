// Pictures whose pixels are moved, each by itself: from where, a map says. It is a struct with
//
//   PS_FN Position<2> position(int x, int y) const
//
// for pixels of the output: where they are in the input, whose first pixel reaches from 0 to 1.
#pragma once

#include "device/geometry/warp.h"

namespace ps::device {

template <class Map> struct DisplaceFields {
  Map map;
  WarpFields<2> warp;                  // all but its matrix
  int32_t still;                       // whether nothing is moved
};

template <class Map, class T, bool kNearest> struct Displace : DisplaceFields<Map> {
  template <class Up> PS_FN Vec<T, Up::kChannels> at(const Up& up, int x, int y, int c) const {
    if (this->still) return up.at(x, y, c);
    const auto tap = [&](int sx, int sy, int) { return up.at(sx, sy, c); };
    return warp_pixel<T, T, kNearest, Up::kChannels>(this->warp, tap, this->map.position(x, y));
  }
};

}  // namespace ps::device
