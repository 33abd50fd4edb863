// Boxes of pictures that are flipped.
#pragma once

#include "kernels/device/elements.h"

namespace ps::device {

// Four numbers a box, as shares of the picture's width and height: left, top, and either right and bottom or width and
// height.
struct BoxFlip {
  const float* in;
  float* out;
  int32_t horizontal, vertical, corners;

  PS_FN void element(int64_t i) const {
    const float* from = in + 4 * i;
    float* to = out + 4 * i;
    axis(horizontal, from[0], from[2], to[0], to[2]);
    axis(vertical, from[1], from[3], to[1], to[3]);
  }

 private:
  PS_FN void axis(bool flip, float first, float second, float& to_first, float& to_second) const {
    const float flipped = corners ? 1 - second : 1 - first - second;
    to_first = flip ? flipped : first;
    to_second = flip && corners ? 1 - first : second;
  }
};

}  // namespace ps::device

#if PS_HOST

#include "core/operator.h"
#include "gpu/operator.h"

namespace ps {

class BbFlip : public Operator, public GpuOperator {
 public:
  explicit BbFlip(const Spec& s)
      : horizontal_(s.arg<int>("horizontal")), vertical_(s.arg<int>("vertical")), corners_(s.flag("ltrb")) {}

  void setup(const Context& c) const override {
    const Tensor& in = c.in(0);
    if (in.dtype != DType::f32) fail(ErrorKind::type, std::string("expected boxes of FLOAT, got ") + name_of(in.dtype));
    if (in.shape.ndim < 1 || in.shape.volume() % 4)
      fail(ErrorKind::type, "expected four numbers for each box, got the shape " + to_string(in.shape));
    Tensor& out = c.out(0);
    out.dtype = in.dtype;
    out.shape = in.shape;
    out.layout = in.layout;
  }

  void run(const Context& c) const override {
    const device::BoxFlip flip = functor(c);
    for (int64_t i = 0, n = c.in(0).shape.volume() / 4; i < n; i++) flip.element(i);
  }

  void record(gpu::Recorder& r) const override {
    r.elements(PS_FUNCTOR(BoxFlip, "bb_flip.h"), [&](const Context& c, void* to) {
      *static_cast<device::BoxFlip*>(to) = functor(c);
      return c.in(0).shape.volume() / 4;
    });
  }

 private:
  device::BoxFlip functor(const Context& c) const {
    const bool horizontal = horizontal_.get_or(c, 1) != 0, vertical = vertical_.get_or(c, 0) != 0;
    return {c.in(0).as<float>(), c.out(0).as<float>(), horizontal, vertical, corners_};
  }

  Arg<int> horizontal_, vertical_;
  bool corners_;
};

PS_OPERATOR("bb_flip", BbFlip)

}  // namespace ps

#endif  // PS_HOST
