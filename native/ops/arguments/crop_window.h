// The window that crop, crop_w, crop_h, crop_d, crop_pos_x, crop_pos_y, crop_pos_z and rounding describe.
#pragma once

#include <cmath>
#include <string>

#include "core/operator.h"
#include "ops/arguments/region.h"

namespace ps {

class CropWindow {
 public:
  explicit CropWindow(const Spec& s)
      : crop_(s.arg<float>("crop")), truncate_(s.string("rounding") == "truncate"),
        x_{"crop_pos_x", s.arg<float>("crop_w"), s.arg<float>("crop_pos_x")},
        y_{"crop_pos_y", s.arg<float>("crop_h"), s.arg<float>("crop_pos_y")},
        z_{"crop_pos_z", s.arg<float>("crop_d"), s.arg<float>("crop_pos_z")} {}

  // Where there is no depth, what is said of it holds for the frames. Other axes stay whole, and so do those whose
  // extent is not given or not positive.
  Region region(const Context& c, const Shape& input, const Layout& layout) const {
    Region r = Region::whole(input);
    const int64_t n = crop_.size(c);
    if (crop_.given() && n != 2 && n != 3)
      fail(ErrorKind::argument,
           "crop has " + std::to_string(n) + " values: expected (height, width) or (depth, height, width)");
    place(c, x_, layout.find('W'), n - 1, r);
    place(c, y_, layout.find('H'), n - 2, r);
    place(c, z_, layout.find(layout.find('D') < 0 ? 'F' : 'D'), n - 3, r);
    return r;
  }

  // Of a picture, and inside it; region() is more general.
  Window window(const Context& c, int64_t width, int64_t height) const {
    const Shape picture{height, width};
    const Region r = region(c, picture, "HW");
    check_inside(r, picture, "HW");
    return r.window();
  }

 private:
  struct Axis {
    const char* place;                   // the argument that says where
    Arg<float> extent, position;
  };

  void place(const Context& c, const Axis& axis, int d, int64_t index, Region& r) const {
    if (d < 0) return;
    const float wanted = !crop_.given() ? axis.extent.get(c) : index >= 0 ? crop_.get(c, index) : 0;
    const auto extent = int64_t(wanted);
    if (extent <= 0) return;
    const float position = axis.position.get(c);
    if (!(position >= 0 && position <= 1))
      fail(ErrorKind::argument, std::string(axis.place) + " is " + std::to_string(position) + ": expected 0 to 1");
    const double start = double(position) * double(r.shape[d] - extent);
    r.anchor[d] = int64_t(truncate_ ? std::trunc(start) : std::round(start));
    r.shape[d] = extent;
  }

  Arg<float> crop_;
  bool truncate_;
  Axis x_, y_, z_;
};

}  // namespace ps
