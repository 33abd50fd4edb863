// Signals at another rate.
#include <cmath>
#include <string>

#include "cuda/record/operator.h"
#include "decode/audio/resampler.h"
#include "ops/audio/signal.h"

namespace ps {
namespace {

template <class F> void visit_sample(DType t, F f) {
  switch (t) {
    case DType::u8: return f(uint8_t());
    case DType::u16: return f(uint16_t());
    case DType::u32: return f(uint32_t());
    case DType::i8: return f(int8_t());
    case DType::i16: return f(int16_t());
    case DType::i32: return f(int32_t());
    case DType::f32: return f(float());
    default:
      fail(ErrorKind::type, std::string("samples of type ") + name_of(t) +
                                ": expected FLOAT, or integers of 8 to 32 bits");
  }
}

}  // namespace

class AudioResample : public Operator, public GpuOperator {
 public:
  explicit AudioResample(const Spec& s)
      : in_rate_(s.arg<float>("in_rate")), out_rate_(s.arg<float>("out_rate")), scale_(s.arg<float>("scale")),
        out_length_(s.arg<int64_t>("out_length")), dtype_(s.dtype("dtype")), resampler_(s.number("quality")) {}

  void setup(const Context& c) const override {
    const Tensor& in = c.in(0);
    Tensor& out = c.out(0);
    out.dtype = dtype_ == DType::none ? in.dtype : dtype_;
    visit_sample(in.dtype, [](auto) {});
    visit_sample(out.dtype, [](auto) {});
    if (in.shape.ndim != 1 && in.shape.ndim != 2)
      fail(ErrorKind::argument, "the input has the shape " + to_string(in.shape) +
                                    ": expected samples, or samples and channels");
    out.shape = in.shape;
    out.layout = in.layout;
    Params& p = c.param<Params>();
    p.out = length(c, in.shape[0], p.scale);
    out.shape[0] = p.out;
  }

  void run(const Context& c) const override {
    const Tensor &in = c.in(0), &out = c.out(0);
    const Params& p = c.param<Params>();
    const int64_t n = in.shape.volume(), made = out.shape.volume(), channels = n && in.shape.ndim > 1 ? in.shape[1] : 1;
    if (!made) return;
    auto* signal = in.as<float>();
    if (in.dtype != DType::f32) {
      signal = static_cast<float*>(c.scratch->take(sizeof(float) * size_t(n)));
      visit_sample(in.dtype, [&](auto one) {
        const auto* from = in.as<decltype(one)>();
        for (int64_t i = 0; i < n; i++) signal[i] = device::sample_to_float(from[i]);
      });
    }
    auto* result = out.dtype == DType::f32 ? out.as<float>()
                                           : static_cast<float*>(c.scratch->take(sizeof(float) * size_t(made)));
    if (n) resampler_.run(signal, in.shape[0], channels, p.scale, result, p.out, *c.scratch);
    else std::fill_n(result, made, 0.0f);
    if (out.dtype == DType::f32) return;
    visit_sample(out.dtype, [&](auto one) {
      using T = decltype(one);
      T* to = out.as<T>();
      for (int64_t i = 0; i < made; i++) to[i] = device::sample_from_float<T>(result[i]);
    });
  }

  void record(gpu::Recorder& r) const override {
    if (!r.size()) return;
    const DType from = r[0].in(0).dtype, to = r[0].out(0).dtype;
    device::Sinc sinc = resampler_.sinc();
    sinc.table = static_cast<const float*>(
        r.constant(resampler_.table().data(), resampler_.table().size() * sizeof(float)));
    const std::string types = gpu::cpp_type(from) + ", " + gpu::cpp_type(to);
    r.elements(PS_FUNCTOR_TEMPLATE(AudioResampled, "audio/resample.h", float, float).of(types),
               [&](const Context& c, void* functor) {
                 const Tensor& in = c.in(0);
                 if (in.dtype != from) fail(ErrorKind::type, "the samples of a batch on the GPU must have one type");
                 if (!c.out(0).shape.volume()) return int64_t(0);
                 const int64_t channels = in.shape.ndim > 1 ? in.shape[1] : 1;
                 new (functor) device::AudioResampleFields{in.data, c.out(0).data, in.shape[0],
                                                           c.param<Params>().scale, sinc,
                                                           device::Divisor(uint64_t(channels))};
                 return c.out(0).shape.volume();
               });
  }

  size_t params_size() const override { return sizeof(Params); }

 private:
  struct Params {
    double scale;                      // samples of the input for one of the output
    int64_t out;
  };
  static constexpr double kLongest = double(int64_t(1) << 40);

  // Of the output, and how far its samples are apart in the input.
  int64_t length(const Context& c, int64_t n, double& scale) const {
    if (out_length_.given()) {
      const int64_t wanted = out_length_.get(c);
      if (wanted < 0) fail(ErrorKind::argument, "out_length is " + std::to_string(wanted) + ": expected 0 or more");
      scale = wanted ? double(n) / double(wanted) : 1;
      return wanted;
    }
    double from = 1, to = 0;
    if (scale_.given()) {
      to = scale_.get(c);
      if (!(to >= 0 && to < kLongest))
        fail(ErrorKind::argument, "scale is " + std::to_string(to) + ": expected a number that is not negative");
    } else {
      from = in_rate_.get(c), to = out_rate_.get(c);
      if (!(from > 0 && from < kLongest))
        fail(ErrorKind::argument, "in_rate is " + std::to_string(from) + ": expected a positive number");
      if (!(to >= 0 && to < kLongest))
        fail(ErrorKind::argument, "out_rate is " + std::to_string(to) + ": expected a number that is not negative");
    }
    scale = to > 0 ? from / to : 1;
    if (double(n) * to / from > kLongest)
      fail(ErrorKind::argument, "a signal of " + std::to_string(n) + " samples would become " +
                                    std::to_string(double(n) * to / from));
    return AudioResampler::length(n, from, to);
  }

  Arg<float> in_rate_, out_rate_, scale_;
  Arg<int64_t> out_length_;
  DType dtype_;
  AudioResampler resampler_;
};

PS_OPERATOR("audio_resample", AudioResample)

}  // namespace ps
