// Colours of pictures whose pixels have one each.

#include "device/color/debayer.h"

#include <cstring>
#include <string>
#include <tuple>
#include <vector>

#include "core/operator.h"
#include "cuda/record/operator.h"
#include "ops/arguments/frames.h"
#include "ops/arguments/picture_layout.h"
#include "ops/color/debayer/mirrored.h"

namespace ps {

class Debayer : public Operator, public GpuOperator {
 public:
  explicit Debayer(const Spec& s) : blue_(s, "blue_position") {
    const std::string given = s.string("algorithm");
    const std::string name = !given.empty() ? given : s.device == "gpu" ? "default_npp" : "bilinear_ocv";
    algorithm_ = name == "gray_ocv"        ? device::kDebayerGray
                 : name == "edgeaware_ocv" ? device::kDebayerEdges
                 : name == "vng_ocv"       ? device::kDebayerGradients
                 : name == "default_npp"   ? device::kDebayerChroma
                                           : device::kDebayerBilinear;
  }

  void setup(const Context& c) const override {
    const Tensor& in = c.in(0);
    Tensor& out = c.out(0);
    if (in.dtype != DType::u8 && in.dtype != DType::u16)
      fail(ErrorKind::type, std::string("the input is ") + name_of(in.dtype) + ": expected UINT8 or UINT16");
    if (algorithm_ == device::kDebayerGradients && in.dtype != DType::u8)
      fail(ErrorKind::type, "the input is UINT16: algorithm=\"vng_ocv\" is for UINT8 alone");
    const Pictures p = pictures(in);
    if (p.height % 2 || p.width % 2)
      fail(ErrorKind::argument, "the height and the width must be even, got " + std::to_string(p.height) + " and " +
                                    std::to_string(p.width));
    if (p.height > INT32_MAX || p.width > INT32_MAX) fail(ErrorKind::unsupported, "an extent is too large");
    out.dtype = in.dtype;
    out.shape = p.frames < 0 ? Shape{p.height, p.width, channels()} : Shape{p.frames, p.height, p.width, channels()};
    out.layout = p.frames < 0 ? "HWC" : "FHWC";
    blue_.expect_frames(c, p.frames);
    blues(c, p);
  }

  void run(const Context& c) const override {
    if (!c.in(0).bytes()) return;
    if (c.in(0).dtype == DType::u8) run_all<uint8_t>(c);
    else run_all<uint16_t>(c);
  }

  void record(gpu::Recorder& r) const override {
    const std::string types = gpu::cpp_type(r[0].in(0).dtype) + ", " + std::to_string(algorithm_);
    r.elements(PS_FUNCTOR_TEMPLATE(Debayer, "color/debayer.h", uint8_t, 0).of(types), [&](const Context& c, void* to) {
      const Pictures p = pictures(c.in(0));
      const int64_t all = c.in(0).shape.volume();
      if (!all) return all;
      const std::vector<int32_t> blue = blues(c, p);
      *static_cast<device::DebayerFields*>(to) = {
          c.in(0).data, c.out(0).data,
          static_cast<const int32_t*>(r.constant(blue.data(), blue.size() * sizeof(int32_t))), int32_t(p.height),
          int32_t(p.width), device::Divisor(uint64_t(p.width)), device::Divisor(uint64_t(p.height)),
          device::Divisor(uint64_t(all / (int64_t(blue.size()) / 2)))};
      return all;
    });
  }

  std::unique_ptr<State> make_state() const override { return std::make_unique<ThreadState>(); }

 private:
  struct ThreadState : State {
    std::tuple<MirroredDebayer<uint8_t, device::kDebayerGradients>, MirroredDebayer<uint8_t, device::kDebayerChroma>,
               MirroredDebayer<uint16_t, device::kDebayerChroma>>
        work;
  };
  struct Pictures {
    int64_t frames, height, width;                   // frames -1: it is no sequence
  };

  static Pictures pictures(const Tensor& t) {
    static constexpr const char* usual[] = {"HW", "HWC", "FHWC"};
    const int n = t.shape.ndim;
    const Layout layout = !t.layout.empty() ? t.layout : n >= 2 && n <= 4 ? Layout(usual[n - 2]) : Layout();
    const std::string_view axes = layout.view();
    if (axes != "HW" && axes != "HWC" && axes != "FHW" && axes != "FHWC")
      fail(ErrorKind::layout, "expected pictures or frames of them (HW, HWC, FHW, FHWC), got " + shown_layout(t));
    const int y = layout.find('H');
    if (n > y + 2 && t.shape[y + 2] != 1)
      fail(ErrorKind::argument, "expected pictures of one channel, got the shape " + to_string(t.shape));
    return {y ? t.shape[0] : -1, t.shape[y], t.shape[y + 1]};
  }

  int64_t channels() const { return algorithm_ == device::kDebayerGray ? 1 : 3; }

  // Row and column of a blue pixel, of each frame or once. The argument counts from the second row and column on.
  std::vector<int32_t> blues(const Context& c, const Pictures& p) const {
    std::vector<int32_t> found;
    for (int64_t f = 0; f < (blue_.frames(c) >= 0 ? p.frames : 1); f++) {
      float position[2];
      blue_.list(c, f, 2, position);
      for (float v : position) {
        if (v != 0 && v != 1)
          fail(ErrorKind::argument, "blue_position is (" + std::to_string(int64_t(position[0])) + ", " +
                                        std::to_string(int64_t(position[1])) + "): expected numbers that are 0 or 1");
        found.push_back(1 - int32_t(v));
      }
    }
    return found;
  }

  template <class T> void run_all(const Context& c) const {
    switch (algorithm_) {
      case device::kDebayerGray: return run_frames<T, device::kDebayerGray>(c);
      case device::kDebayerEdges: return run_frames<T, device::kDebayerEdges>(c);
      case device::kDebayerChroma: return run_mirrored<T, device::kDebayerChroma>(c);
      case device::kDebayerGradients:
        if constexpr (sizeof(T) == 1)
          if (!small(pictures(c.in(0)))) return run_mirrored<T, device::kDebayerGradients>(c);
        return run_frames<T, device::kDebayerBilinear>(c);
      default: return run_frames<T, device::kDebayerBilinear>(c);
    }
  }

  static bool small(const Pictures& p) {
    return p.height < device::kLeastForGradients || p.width < device::kLeastForGradients;
  }

  template <class T, int kAlgorithm> void run_mirrored(const Context& c) const {
    const Pictures p = pictures(c.in(0));
    const std::vector<int32_t> blue = blues(c, p);
    MirroredDebayer<T, kAlgorithm>& work = std::get<MirroredDebayer<T, kAlgorithm>>(c.st<ThreadState>().work);
    for (int64_t f = 0; f < (p.frames < 0 ? 1 : p.frames); f++) {
      const int64_t plane = p.height * p.width;
      work.run(c.in(0).as<T>() + f * plane, c.out(0).as<T>() + 3 * f * plane, p.height, p.width,
               blue.data() + (blue.size() > 2 ? 2 * f : 0));
    }
  }

  template <class T, int kAlgorithm> void run_frames(const Context& c) const {
    constexpr int64_t channels = kAlgorithm == device::kDebayerGray ? 1 : 3;
    const Pictures p = pictures(c.in(0));
    const std::vector<int32_t> blue = blues(c, p);
    const int64_t plane = p.height * p.width, w = p.width, row = w * channels;
    const T* from = c.in(0).as<T>();
    T* to = c.out(0).as<T>();
    for (int64_t f = 0; f < (p.frames < 0 ? 1 : p.frames); f++, from += plane, to += plane * channels) {
      if (p.height < 3 || w < 3) {
        std::memset(to, 0, size_t(plane * channels) * sizeof(T));
        continue;
      }
      const int32_t* position = blue.data() + (blue.size() > 2 ? 2 * f : 0);
      for (int64_t y = 1; y < p.height - 1; y++) {
        const T* in = from + y * w;
        T* out = to + y * row;
        // Two by two, since every other pixel has the same colours to be found; the width is even.
        const int32_t odd = device::bayer_pixel(int(y), 1, position[0], position[1]);
        const int32_t even = device::bayer_pixel(int(y), 0, position[0], position[1]);
        const auto two = [&](int32_t first, int32_t second) {
          for (int64_t x = 1; x < w - 1; x += 2) {
            device::debayer<T, kAlgorithm>(in + x, w, first, out + x * channels);
            device::debayer<T, kAlgorithm>(in + x + 1, w, second, out + (x + 1) * channels);
          }
        };
        if (odd == device::kBayerRed) two(device::kBayerRed, device::kBayerGreenByRed);
        else if (odd == device::kBayerBlue) two(device::kBayerBlue, device::kBayerGreenByBlue);
        else if (even == device::kBayerRed) two(device::kBayerGreenByRed, device::kBayerRed);
        else two(device::kBayerGreenByBlue, device::kBayerBlue);
        std::memcpy(out, out + channels, size_t(channels) * sizeof(T));
        std::memcpy(out + row - channels, out + row - 2 * channels, size_t(channels) * sizeof(T));
      }
      std::memcpy(to, to + row, size_t(row) * sizeof(T));
      std::memcpy(to + (p.height - 1) * row, to + (p.height - 2) * row, size_t(row) * sizeof(T));
    }
  }

  FrameArg blue_;
  int32_t algorithm_;
};

PS_OPERATOR("debayer", Debayer)

}  // namespace ps
