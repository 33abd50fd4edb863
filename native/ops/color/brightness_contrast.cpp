// Brightness and contrast: each value by itself, as a factor and a summand.

#include "device/color/brightness_contrast.h"

#include "ops/arguments/picture_layout.h"
#include "ops/color/pixel_lanes.h"
#include "ops/color/pixels.h"

namespace ps {

class BrightnessContrast : public PixelOperator<device::BrightnessContrast<float>, 1> {
  using Functor = device::BrightnessContrast<float>;

 public:
  explicit BrightnessContrast(const Spec& s)
      : PixelOperator(s, PS_FUNCTOR_TEMPLATE(BrightnessContrast, "color/brightness_contrast.h", float)),
        brightness_(s, "brightness"), shift_(s, "brightness_shift"), contrast_(s, "contrast"),
        center_(s, "contrast_center") {}

  void setup(const Context& c) const override {
    begin_setup(c, picture_layout(c.in(0), false));
    set_functors(c, {&brightness_, &shift_, &contrast_, &center_}, [&](int64_t frame, Functor& f) {
      const float center = center_.given() ? center_.get(c, frame) : middle(c.in(0).dtype);
      const float brightness = brightness_.get(c, frame), contrast = contrast_.get(c, frame);
      // In this order, which decides how the numbers are rounded.
      f.multiplier = brightness * contrast;
      f.addend = shift_.get(c, frame) * range(c.out(0).dtype) + brightness * (center - contrast * center);
    });
  }

 private:
  // The largest value, or 1 for floats.
  static float range(DType t) {
    return t == DType::u8 ? 255.f : t == DType::i16 ? 32767.f : t == DType::i32 ? 2147483647.f : 1.f;
  }
  // Half of that, as DALI has it: a whole number of integers.
  static float middle(DType t) {
    return t == DType::u8 ? 128.f : t == DType::i16 ? 16384.f : t == DType::i32 ? 1073741824.f : 0.5f;
  }

  Loop loop(DType in, DType out) const override {
    return visit_pixel(in, "the input", [&](auto from) {
      return visit_pixel(out, "the output", [](auto to) -> Loop { return row<typename decltype(from)::type,
                                                                             typename decltype(to)::type>; });
    });
  }

  template <class In, class Out> static void row(const Functor& f, const void* from, void* to, size_t n) {
    const In* in = static_cast<const In*>(from);
    Out* out = static_cast<Out*>(to);
    const Functor affine = f;                        // a copy that no store to `out` can change
    if constexpr (lanes::kFast<In, Out>) return lanes::affine_bytes(in, n, affine.multiplier, affine.addend, out);
    for (size_t i = 0; i < n; i++) out[i] = convert<Out>(affine(convert<float>(in[i])));
  }

  FrameArg brightness_, shift_, contrast_, center_;
};

PS_OPERATOR("brightness_contrast", BrightnessContrast)

}  // namespace ps

