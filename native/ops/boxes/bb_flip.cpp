// Boxes of pictures that are flipped.

#include "device/boxes/bb_flip.h"

#include "core/operator.h"
#include "cuda/record/operator.h"

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
    const device::BbFlip flip = functor(c);
    for (int64_t i = 0, n = c.in(0).shape.volume() / 4; i < n; i++) flip.element(i);
  }

  void record(gpu::Recorder& r) const override {
    r.elements(PS_FUNCTOR(BbFlip, "boxes/bb_flip.h"), [&](const Context& c, void* to) {
      *static_cast<device::BbFlip*>(to) = functor(c);
      return c.in(0).shape.volume() / 4;
    });
  }

 private:
  device::BbFlip functor(const Context& c) const {
    const bool horizontal = horizontal_.get(c) != 0, vertical = vertical_.get(c) != 0;
    return {c.in(0).as<float>(), c.out(0).as<float>(), horizontal, vertical, corners_};
  }

  Arg<int> horizontal_, vertical_;
  bool corners_;
};

PS_OPERATOR("bb_flip", BbFlip)

}  // namespace ps

