// Points mirrored along some of their axes.

#include "device/geometry/coord_flip.h"

#include <string>
#include <string_view>

#include "core/operator.h"
#include "cuda/record/operator.h"

namespace ps {

class CoordFlip : public Operator, public GpuOperator {
 public:
  explicit CoordFlip(const Spec& s)
      : layout_(s.string("layout")),
        flip_{s.arg<int>("flip_x"), s.arg<int>("flip_y"), s.arg<int>("flip_z")},
        center_{s.arg<float>("center_x"), s.arg<float>("center_y"), s.arg<float>("center_z")} {
    if (layout_.empty()) layout_ = kAxes;
  }

  void setup(const Context& c) const override {
    const Tensor& in = c.in(0);
    if (in.dtype != DType::f32)
      fail(ErrorKind::type, std::string("expected points of FLOAT, got ") + name_of(in.dtype));
    if (in.shape.ndim != 2 || in.shape[1] > int64_t(kAxes.size()))
      fail(ErrorKind::type, "expected (points, coordinates) with up to 3 coordinates, got the shape " +
                                to_string(in.shape));
    for (const char axis : kAxes.substr(0, size_t(in.shape[1])))
      if (layout_.find(axis) == std::string::npos)
        fail(ErrorKind::layout, "layout='" + layout_ + "' has no '" + axis + "', but points have " +
                                    std::to_string(in.shape[1]) + " coordinates");
    Tensor& out = c.out(0);
    out.dtype = in.dtype;
    out.shape = in.shape;
    out.layout = in.layout;
  }

  void run(const Context& c) const override {
    const device::CoordFlip flip = functor(c);
    const int64_t points = c.in(0).shape[0];
    switch (flip.coordinates) {
      case 1: return flip_points<1>(flip, points);
      case 2: return flip_points<2>(flip, points);
      case 3: return flip_points<3>(flip, points);
    }
  }

  void record(gpu::Recorder& r) const override {
    r.elements(PS_FUNCTOR(CoordFlip, "geometry/coord_flip.h"), [&](const Context& c, void* to) {
      *static_cast<device::CoordFlip*>(to) = functor(c);
      return c.in(0).shape.volume();
    });
  }

 private:
  static constexpr std::string_view kAxes = "xyz";

  template <int kCoordinates> static void flip_points(const device::CoordFlip flip, int64_t points) {
    const float* __restrict from = flip.in;
    float* __restrict to = flip.out;
    for (int64_t i = 0; i < points; i++, from += kCoordinates, to += kCoordinates)
      for (int k = 0; k < kCoordinates; k++) to[k] = flip.flipped(k, from[k]);
  }

  device::CoordFlip functor(const Context& c) const {
    device::CoordFlip f{c.in(0).as<float>(), c.out(0).as<float>(), int32_t(c.in(0).shape[1]), {}, {}};
    for (int axis = 0; axis < f.coordinates; axis++) {
      const size_t k = layout_.find(kAxes[size_t(axis)]);     // beyond those of a point: DALI flips none then, either
      if (k >= size_t(f.coordinates)) continue;
      f.flip[k] = flip_[axis].get(c) != 0;
      f.twice[k] = 2 * center_[axis].get(c);
    }
    return f;
  }

  std::string layout_;
  Arg<int> flip_[3];
  Arg<float> center_[3];
};

PS_OPERATOR("coord_flip", CoordFlip)

}  // namespace ps
