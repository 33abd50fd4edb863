// Hue, saturation, value, brightness and contrast: each pixel's three channels as linear functions of all three.

#include "device/color/color_twist.h"

#include "ops/arguments/picture_layout.h"
#include "ops/color/color_twist/matrix.h"
#include "ops/color/pixel_lanes.h"
#include "ops/color/pixels.h"

namespace ps {

class ColorTwist : public PixelOperator<device::ColorTwist<float>, 3> {
  using Functor = device::ColorTwist<float>;

 public:
  explicit ColorTwist(const Spec& s)
      : PixelOperator(s, PS_FUNCTOR_TEMPLATE(ColorTwist, "color/color_twist.h", float)), hue_(s, "hue"),
        saturation_(s, "saturation"), value_(s, "value"), brightness_(s, "brightness"), contrast_(s, "contrast") {}

  void setup(const Context& c) const override {
    const Tensor& in = c.in(0);
    const Layout layout = picture_layout(in, false);
    const int last = in.shape.ndim - 1;
    if (layout.find('C') != last || in.shape[last] != 3)
      fail(ErrorKind::layout, std::string("expected three channels as the last axis, got the layout '") +
                                  layout.axes + "' and the shape " + to_string(in.shape));
    begin_setup(c, layout);
    const float middle = is_float(in.dtype) ? 0.5f : 128.f;        // which contrast leaves as it is
    set_functors(c, {&hue_, &saturation_, &value_, &brightness_, &contrast_}, [&](int64_t frame, Functor& f) {
      const float brightness = brightness_.get(c, frame), contrast = contrast_.get(c, frame);
      color::matrix(hue_.get(c, frame), saturation_.get(c, frame), value_.get(c, frame), brightness * contrast,
                    f.matrix);
      f.offset = (middle - middle * contrast) * brightness;
    });
  }

 private:
  Loop loop(DType in, DType out) const override {
    return visit_pixel(in, "the input", [&](auto from) {
      return visit_pixel(out, "the output", [](auto to) -> Loop { return row<typename decltype(from)::type,
                                                                             typename decltype(to)::type>; });
    });
  }

  template <class In, class Out> static void row(const Functor& f, const void* from, void* to, size_t n) {
    const In* in = static_cast<const In*>(from);
    Out* out = static_cast<Out*>(to);
    const Functor twist = f;                         // a copy that no store to `out` can change
    if constexpr (lanes::kFast<In, Out>) return lanes::mix_bytes(in, n, twist.matrix, twist.offset, out);
    for (size_t i = 0; i < n; i++) {
      const float r = convert<float>(in[3 * i]), g = convert<float>(in[3 * i + 1]), b = convert<float>(in[3 * i + 2]);
      for (size_t k = 0; k < 3; k++) out[3 * i + k] = convert<Out>(twist.channel(int(k), r, g, b));
    }
  }

  FrameArg hue_, saturation_, value_, brightness_, contrast_;
};

PS_OPERATOR("color_twist", ColorTwist)

}  // namespace ps

