// Pictures from one colour space to another: each pixel by itself.

#include "device/color/color_space_conversion.h"

#include <cstring>
#include <string>

#include "core/convert.h"
#include "cuda/record/operator.h"
#include "ops/arguments/picture_layout.h"
#include "ops/color/color_space_conversion/rows.h"
#include "rows/map_stage.h"

namespace ps {

static_assert(int(device::Space::rgb) == PS_IMAGE_TYPE_RGB && int(device::Space::bgr) == PS_IMAGE_TYPE_BGR &&
              int(device::Space::gray) == PS_IMAGE_TYPE_GRAY && int(device::Space::ycbcr) == PS_IMAGE_TYPE_YCBCR);

class ColorSpaceConversion : public RowOperator, public StageOperator {
 public:
  explicit ColorSpaceConversion(const Spec& s)
      : from_(space(s, "image_type")), to_(space(s, "output_type")), loop_(color_space_row(from_, to_)) {}

  void setup(const Context& c) const override {
    const Tensor& in = c.in(0);
    Tensor& out = c.out(0);
    if (in.dtype != DType::u8)
      fail(ErrorKind::type, std::string("the input is ") + name_of(in.dtype) + ": expected UINT8");
    const int last = in.shape.ndim - 1, channels = device::channels_of(from_);
    out.layout = picture_layout(in, false);
    if (out.layout.find('C') != last || in.shape[last] != channels)
      fail(ErrorKind::layout, "expected " + std::to_string(channels) + (channels > 1 ? " channels" : " channel") +
                                  " as the last axis, got the layout '" + out.layout.axes + "' and the shape " +
                                  to_string(in.shape));
    out.dtype = DType::u8;
    out.shape = in.shape;
    out.shape[last] = device::channels_of(to_);
  }

  void run(const Context& c) const override {
    const Tensor& in = c.in(0);
    loop_(in.as<uint8_t>(), c.out(0).as<uint8_t>(), size_t(in.shape.volume() / device::channels_of(from_)));
  }

  Misfit rows_misfit(const Context& c) const override {
    if (c.in(0).shape.ndim != 3) return misfit::no_picture;
    return c.in(0).shape.volume() > 0 ? fits : misfit::no_pixels;
  }
  RowStage* begin(const Context& c) const override {
    Stage& stage = c.st<ThreadState>().stage;
    stage.in = format(c.in(0));
    stage.out = format(c.out(0));
    stage.loop = loop_;
    return &stage;
  }
  std::unique_ptr<State> make_state() const override { return std::make_unique<ThreadState>(); }

  Misfit stage_misfit(const Context&) const override { return fits; }
  Functor stage(const Context&) const override {
    using device::Space;
    return PS_FUNCTOR_TEMPLATE(ColorSpaces, "color/color_space_conversion.h", Space::rgb, Space::gray).of(types());
  }
  void fill_stage(const Context&, void*) const override {}
  bool one_to_one() const override { return true; }
  void record_alone(gpu::Recorder& r) const override {
    using device::Space;
    using Fields = device::ColorSpaceFields;
    const auto type = PS_FUNCTOR_TEMPLATE(ColorSpacePixels, "color/color_space_conversion.h", Space::rgb, Space::gray);
    r.elements(type.of(types()),
               [&](const Context& c, void* to) {
                 *static_cast<Fields*>(to) = {c.in(0).as<uint8_t>(), c.out(0).as<uint8_t>()};
                 return c.in(0).shape.volume() / device::channels_of(from_);
               });
  }

 private:
  struct Stage : MapStage {
    ColorSpaceRow loop = nullptr;

    void map(const void* from, void* to, size_t pixels) override {
      loop(static_cast<const uint8_t*>(from), static_cast<uint8_t*>(to), pixels);
    }
  };
  struct ThreadState : State {
    Stage stage;
  };

  static device::Space space(const Spec& s, const char* name) {
    const int64_t number = s.integer(name);
    if (number < 0 || number > 3)
      fail(ErrorKind::argument,
           std::string(name) + " is " + std::to_string(number) + ": expected RGB, BGR, GRAY or YCbCr");
    return device::Space(number);
  }
  std::string types() const {
    const auto text = [](device::Space s) {
      return std::string(PS_DEVICE_TYPE(Space)) + "(" + std::to_string(int(s)) + ")";
    };
    return text(from_) + ", " + text(to_);
  }

  device::Space from_, to_;
  ColorSpaceRow loop_;
};

PS_OPERATOR("color_space_conversion", ColorSpaceConversion)

}  // namespace ps

