// Boxes of pictures that are put on a larger canvas.
#include <string>

#include "core/operator.h"

namespace ps {

class BboxPaste : public Operator {
 public:
  explicit BboxPaste(const Spec& s)
      : ratio_(s.arg<float>("ratio")), x_(s.arg<float>("paste_x")), y_(s.arg<float>("paste_y")),
        corners_(s.flag("ltrb")) {}

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
    // Rounded as DALI rounds them, and as there, the picture is not moved further than to the far edges.
    const float ratio = ratio_.get(c), scale = 1 / ratio, margin = (ratio - 1) / ratio;
    float shift[2] = {x_.get(c) * margin, y_.get(c) * margin};
    for (float& s : shift)
      if (s + scale > 1) s = 1 - scale;
    const float* from = c.in(0).as<float>();
    float* to = c.out(0).as<float>();
    for (int64_t i = 0, n = c.in(0).shape.volume(); i < n; i++) {
      const float scaled = from[i] * scale;
      to[i] = corners_ || i % 4 < 2 ? scaled + shift[i % 2] : scaled;
    }
  }

 private:
  Arg<float> ratio_, x_, y_;
  bool corners_;
};

PS_OPERATOR("bbox_paste", BboxPaste)

}  // namespace ps
