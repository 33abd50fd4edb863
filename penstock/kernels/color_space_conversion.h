// Pictures from one colour space to another: each pixel by itself.
#pragma once

#include "kernels/device/color_spaces.h"
#include "kernels/device/elements.h"
#include "kernels/device/picture.h"

namespace ps::device {

template <Space kFrom, Space kTo> struct ColorSpaces {
  template <class Up> PS_FN Vec<uint8_t, Up::kChannels> at(const Up& up, int x, int y, int c) const {
    constexpr int N = Up::kChannels;                 // of the chain's first picture: 1, or all
    float in[3], out[3];
    if constexpr (N >= 3) {
      const auto pixel = up.at(x, y, 0);
      PS_UNROLL
      for (int k = 0; k < channels_of(kFrom); k++) in[k] = convert<float>(pixel[k]);
    } else {
      PS_UNROLL
      for (int k = 0; k < channels_of(kFrom); k++) in[k] = convert<float>(up.at(x, y, k)[0]);
    }
    convert_color<kFrom, kTo>(in, out, [](float v) { return v; });
    Vec<uint8_t, N> pixel;
    PS_UNROLL
    for (int k = 0; k < N; k++) pixel[k] = convert<uint8_t>(out[min(c + k, channels_of(kTo) - 1)]);
    return pixel;
  }
};

// Alone, whatever the picture's axes are; element i is a pixel.
struct ColorSpaceFields {
  const uint8_t* in;
  uint8_t* out;
};
template <Space kFrom, Space kTo> struct ColorSpacePixels : ColorSpaceFields {
  PS_FN void element(int64_t i) const {
    float from[3], to[3];
    PS_UNROLL
    for (int k = 0; k < channels_of(kFrom); k++) from[k] = convert<float>(in[i * channels_of(kFrom) + k]);
    convert_color<kFrom, kTo>(from, to, [](float v) { return v; });
    PS_UNROLL
    for (int k = 0; k < channels_of(kTo); k++) out[i * channels_of(kTo) + k] = convert<uint8_t>(to[k]);
  }
};

}  // namespace ps::device

#if PS_HOST

#include <cstring>
#include <string>

#include "core/convert.h"
#include "core/picture_layout.h"
#include "gpu/operator.h"
#include "kernels/color_space_rows.h"
#include "rows/map_stage.h"

namespace ps {

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

  bool fits_rows(const Context& c) const override { return c.in(0).shape.ndim == 3 && c.in(0).shape.volume() > 0; }
  RowStage* begin(const Context& c) const override {
    Stage& stage = c.st<Worker>().stage;
    stage.in = format(c.in(0));
    stage.out = format(c.out(0));
    stage.loop = loop_;
    return &stage;
  }
  std::unique_ptr<State> make_state() const override { return std::make_unique<Worker>(); }

  bool fits_stage(const Context&) const override { return true; }
  Functor stage(const Context&) const override {
    using Stage = device::ColorSpaces<device::Space::rgb, device::Space::gray>;
    return {"ps::device::ColorSpaces<" + types() + ">", kHeader, sizeof(Stage), alignof(Stage)};
  }
  void fill_stage(const Context&, void*) const override {}
  bool one_to_one() const override { return true; }
  void record_alone(gpu::Recorder& r) const override {
    using Fields = device::ColorSpaceFields;
    r.elements({"ps::device::ColorSpacePixels<" + types() + ">", kHeader, sizeof(Fields), alignof(Fields)},
               [&](const Context& c, void* to) {
                 *static_cast<Fields*>(to) = {c.in(0).as<uint8_t>(), c.out(0).as<uint8_t>()};
                 return c.in(0).shape.volume() / device::channels_of(from_);
               });
  }

 private:
  static constexpr const char* kHeader = "kernels/color_space_conversion.h";

  struct Stage : MapStage {
    ColorSpaceRow loop = nullptr;

    void map(const void* from, void* to, size_t pixels) override {
      loop(static_cast<const uint8_t*>(from), static_cast<uint8_t*>(to), pixels);
    }
  };
  struct Worker : State {
    Stage stage;
  };

  static device::Space space(const Spec& s, const char* name) {
    const int64_t number = s.integer(name, -1);
    if (number < 0 || number > 3)
      fail(ErrorKind::argument,
           std::string(name) + " is " + std::to_string(number) + ": expected RGB, BGR, GRAY or YCbCr");
    return device::Space(number);
  }
  std::string types() const {
    const auto text = [](device::Space s) { return "ps::device::Space(" + std::to_string(int(s)) + ")"; };
    return text(from_) + ", " + text(to_);
  }

  device::Space from_, to_;
  ColorSpaceRow loop_;
};

PS_OPERATOR("color_space_conversion", ColorSpaceConversion)

}  // namespace ps

#endif  // PS_HOST
