// What JPEG makes of pictures.

#include "device/color/jpeg_compression_distortion.h"

#include <algorithm>
#include <string>
#include <vector>

#include "core/operator.h"
#include "cuda/record/operator.h"
#include "ops/arguments/picture_layout.h"
#include "ops/color/jpeg_compression_distortion/picture.h"

namespace ps {

class JpegCompressionDistortion : public Operator, public GpuOperator {
 public:
  explicit JpegCompressionDistortion(const Spec& s) : quality_(s.arg<int64_t>("quality")) {}

  void setup(const Context& c) const override {
    const Tensor& in = c.in(0);
    Tensor& out = c.out(0);
    if (in.dtype != DType::u8)
      fail(ErrorKind::type, std::string("the input is ") + name_of(in.dtype) + ": expected UINT8");
    const int n = in.shape.ndim;
    const Layout layout = !in.layout.empty() ? in.layout : n == 3 ? Layout("HWC") : n == 4 ? Layout("FHWC") : Layout();
    if (!(layout == "HWC" || layout == "FHWC"))
      fail(ErrorKind::layout, "expected pictures or frames of them (HWC, FHWC), got " + shown_layout(in));
    if (in.shape[n - 1] != 3)
      fail(ErrorKind::argument, "expected three channels, got the shape " + to_string(in.shape));
    if (in.shape[n - 2] > kLongest || in.shape[n - 3] > kLongest)
      fail(ErrorKind::unsupported, "the shape " + to_string(in.shape) + " is too large");
    out.dtype = DType::u8;
    out.shape = in.shape;
    out.layout = layout;
    quality_.get(c);
  }

  void run(const Context& c) const override {
    const Tensor &in = c.in(0), &out = c.out(0);
    if (!in.bytes()) return;
    const device::JpegPlanes planes = extents(in);
    const int64_t bytes = int64_t(planes.width) * planes.height * 3;
    const device::JpegQuant quant = quants(c);
    for (int64_t f = 0, n = frames_of(in); f < n; f++)
      c.st<ThreadState>().distortion.run(in.as<uint8_t>() + f * bytes, out.as<uint8_t>() + f * bytes, planes.width,
                                         planes.height, quant);
  }
  std::unique_ptr<State> make_state() const override { return std::make_unique<ThreadState>(); }

  void record(gpu::Recorder& r) const override {
    std::vector<device::JpegPlanes> all;
    for (int i = 0; i < r.size(); i++) {
      const Tensor& in = r[i].in(0);
      device::JpegPlanes planes = extents(in);
      const auto frames = size_t(frames_of(in)), colours = frames * size_t(half(planes));
      planes.luma = static_cast<uint8_t*>(r.scratch(in.bytes() / 3));
      planes.cb = static_cast<uint8_t*>(r.scratch(colours));
      planes.cr = static_cast<uint8_t*>(r.scratch(colours));
      all.push_back(planes);
    }
    r.elements(PS_FUNCTOR(JpegColours, "color/jpeg_compression_distortion.h"), [&](const Context& c, void* to) {
      const device::JpegPlanes& planes = all[size_t(c.index)];
      *static_cast<device::JpegColours*>(to) = {c.in(0).as<uint8_t>(), planes};
      return frames_of(c.in(0)) * half(planes);
    });
    for (int plane = 0; plane < 3; plane++)
      r.elements(PS_FUNCTOR(JpegBlocks, "color/jpeg_compression_distortion.h"), [&](const Context& c, void* to) {
        const device::JpegBlocks blocks = blocks_of(all[size_t(c.index)], plane, quants(c));
        *static_cast<device::JpegBlocks*>(to) = blocks;
        return frames_of(c.in(0)) * block_count(blocks);
      });
    r.elements(PS_FUNCTOR(JpegPixels, "color/jpeg_compression_distortion.h"), [&](const Context& c, void* to) {
      *static_cast<device::JpegPixels*>(to) = {all[size_t(c.index)], c.out(0).as<uint8_t>()};
      return c.in(0).shape.volume() / 3;
    });
  }

 private:
  static constexpr int64_t kLongest = 1 << 28;
  struct ThreadState : State {
    JpegDistortion distortion;
  };

  static int64_t frames_of(const Tensor& t) { return t.shape.ndim == 4 ? t.shape[0] : 1; }
  static device::JpegPlanes extents(const Tensor& t) {
    const int n = t.shape.ndim;
    return {int32_t(t.shape[n - 2]), int32_t(t.shape[n - 3]), nullptr, nullptr, nullptr};
  }
  static int64_t half(const device::JpegPlanes& p) { return int64_t(p.colour_row()) * p.half_height(); }
  static device::JpegBlocks blocks_of(const device::JpegPlanes& p, int plane, const device::JpegQuant& quant) {
    if (plane == 0) return {p.luma, quant, p.width, p.height, 1};
    return {plane == 1 ? p.cb : p.cr, quant, p.colour_row(), p.half_height(), 0};
  }
  static int64_t block_count(const device::JpegBlocks& b) {
    return int64_t((b.width + 7) / 8) * ((b.height + 7) / 8);
  }

  // The tables of the standard's annex K, scaled as the JPEG group's library does it.
  device::JpegQuant quants(const Context& c) const {
    static constexpr uint8_t luma[] = {
        16, 11, 10, 16, 24,  40,  51,  61,  12, 12, 14, 19, 26,  58,  60,  55,  14, 13, 16, 24, 40,  57,
        69, 56, 14, 17, 22,  29,  51,  87,  80, 62, 18, 22, 37,  56,  68,  109, 103, 77, 24, 35, 55, 64,
        81, 104, 113, 92, 49, 64, 78,  87,  103, 121, 120, 101, 72, 92, 95, 98, 112, 100, 103, 99};
    static constexpr uint8_t colour[] = {17, 18, 24, 47, 18, 21, 26, 66, 24, 26, 56, 99, 47, 66, 99, 99};
    const int64_t quality = std::clamp<int64_t>(quality_.get(c), 1, 100);
    const int64_t scale = quality < 50 ? 5000 / quality : 200 - 2 * quality;
    const auto scaled = [&](int64_t v) { return uint16_t(std::clamp<int64_t>((v * scale + 50) / 100, 1, 255)); };
    device::JpegQuant q;
    for (size_t i = 0; i < 64; i++) {
      q.luma[i] = scaled(luma[i]);
      const size_t row = i / 8, column = i % 8;
      q.colour[i] = scaled(row < 4 && column < 4 ? colour[row * 4 + column] : 99);
    }
    return q;
  }

  Arg<int64_t> quality_;
};

PS_OPERATOR("jpeg_compression_distortion", JpegCompressionDistortion)

}  // namespace ps
