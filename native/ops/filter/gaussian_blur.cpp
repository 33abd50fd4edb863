// Windows that weigh neighbours by a Gaussian, one axis after the other.

#include "device/filter/gaussian_blur.h"

#include <cmath>
#include <string>
#include <vector>

#include "core/convert.h"
#include "core/converter.h"
#include "cuda/record/operator.h"
#include "ops/arguments/axes.h"
#include "ops/arguments/region.h"
#include "ops/filter/filtered_axes.h"
#include "ops/filter/gaussian_blur/rows.h"

namespace ps {

class GaussianBlur : public Operator, public GpuOperator {
 public:
  explicit GaussianBlur(const Spec& s)
      : sigma_(s.arg<float>("sigma")), window_(s.arg<int64_t>("window_size")), dtype_(s.dtype("dtype")) {}

  void setup(const Context& c) const override {
    const Tensor& in = c.in(0);
    Tensor& out = c.out(0);
    if (in.dtype == DType::boolean || size_of(in.dtype) == 0)
      fail(ErrorKind::type, std::string("the input is ") + name_of(in.dtype) + ": expected numbers");
    out.dtype = dtype_ == DType::none ? in.dtype : dtype_;
    if (out.dtype != in.dtype && out.dtype != DType::f32)
      fail(ErrorKind::argument, std::string("dtype is ") + name_of(out.dtype) + ": expected FLOAT, or the input's " +
                                    name_of(in.dtype));
    out.shape = in.shape;
    out.layout = in.layout;
    Windows& windows = c.param<Windows>() = axes(in);
    for (int i = 0; i < windows.count; i++) {
      const float sigma = value(c, sigma_, "sigma", i, windows.count);
      const int64_t size = value(c, window_, "window_size", i, windows.count);
      check(sigma, size, axis_name(in.layout, windows.first + i));
      windows.radius[i] = size ? int32_t(size / 2) : int32_t(std::ceil(3 * sigma));
      windows.sigma[i] = sigma > 0 ? sigma : float(windows.radius[i] - 1) * 0.3f + 0.8f;
    }
  }

  void run(const Context& c) const override {
    const Tensor &in = c.in(0), &out = c.out(0);
    if (out.shape.volume() == 0) return;
    switch (in.dtype) {
      case DType::u8: return blur<uint8_t>(c);
      case DType::u16: return blur<uint16_t>(c);
      case DType::i16: return blur<int16_t>(c);
      case DType::f32: return blur(c, in.as<float>(), out.as<float>());
      default: {                                     // as floats
        const auto n = size_t(in.shape.volume());
        auto* from = static_cast<float*>(c.scratch->take(n * sizeof(float)));
        converter(in.dtype, DType::f32)(in.data, from, n);
        if (out.dtype == DType::f32) return blur(c, from, out.as<float>());
        auto* to = static_cast<float*>(c.scratch->take(n * sizeof(float)));
        blur(c, from, to);
        converter(DType::f32, out.dtype)(to, out.data, n);
      }
    }
  }

  void record(gpu::Recorder& r) const override {
    int passes = 0;
    for (int i = 0; i < r.size(); i++) passes = std::max(passes, r[i].param<Windows>().count);
    std::vector<const void*> from;
    std::vector<void*> scratch[2];                   // by turns
    std::vector<float> weights;                      // of all samples and axes
    for (int i = 0; i < r.size(); i++) {
      from.push_back(r[i].in(0).data);
      Windows& w = r[i].param<Windows>();
      for (int k = 0; k < w.count; k++) {
        const HalfWindow half = half_window(w, k);
        w.weights_at[k] = int64_t(weights.size());
        weights.insert(weights.end(), half.begin(), half.end());
      }
      for (int k = 0; k < 2; k++)
        scratch[k].push_back(passes > k + 1 ? r.scratch(size_t(r[i].out(0).shape.volume()) * sizeof(float)) : nullptr);
    }
    const auto* there = static_cast<const float*>(r.constant(weights.data(), weights.size() * sizeof(float)));
    for (int pass = 0; pass < passes; pass++) record_pass(r, pass, pass + 1 == passes, there, from, scratch[pass % 2]);
  }

  size_t params_size() const override { return sizeof(Windows); }

 private:
  struct Windows {
    int first, count;                                // the axes that are blurred
    int32_t radius[kMaxDims];
    float sigma[kMaxDims];
    int64_t weights_at[kMaxDims];                    // where they are on the GPU
  };

  // Of a window that reaches so far, each place would weigh next to nothing.
  static constexpr int64_t kLargestRadius = 1 << 20;

  static Windows axes(const Tensor& t) {
    const FilteredAxes found = filtered_axes(t, "blur");
    Windows w{};
    w.first = found.first;
    w.count = found.count;
    return w;
  }

  template <class T> static T value(const Context& c, const Arg<T>& a, const char* name, int i, int axes) {
    return a.size(c) ? axis_value(c, a, name, i, axes) : 0;
  }

  static void check(float sigma, int64_t size, const std::string& axis) {
    if (!(sigma >= 0 && sigma <= float(kLargestRadius / 3)))
      fail(ErrorKind::argument, "sigma is " + std::to_string(sigma) + " on " + axis + ": expected 0 to " +
                                    std::to_string(kLargestRadius / 3));
    if (size < 0 || size > 2 * kLargestRadius || (size > 0 && size % 2 == 0))
      fail(ErrorKind::argument, "window_size is " + std::to_string(size) + " on " + axis +
                                    ": expected 0, or an odd number up to " + std::to_string(2 * kLargestRadius));
    if (sigma == 0 && size == 0) fail(ErrorKind::argument, "on " + axis + " neither sigma nor window_size is given");
  }

  static HalfWindow half_window(float sigma, int radius) {
    const double scale = -0.5 / (double(sigma) * double(sigma));
    std::vector<double> exact;
    double sum = 0;
    for (int k = 0; k <= radius; k++) {
      exact.push_back(std::exp(scale * k * k));
      sum += (k ? 2 : 1) * exact.back();
    }
    HalfWindow w;
    for (double v : exact) w.push_back(float(v / sum));
    return w;
  }
  static HalfWindow half_window(const Windows& w, int i) { return half_window(w.sigma[i], w.radius[i]); }

  template <class In> void blur(const Context& c) const {
    const Tensor &in = c.in(0), &out = c.out(0);
    if (out.dtype == DType::f32) blur(c, in.as<In>(), out.as<float>());
    else blur(c, in.as<In>(), out.as<In>());
  }

  // Of volumes, the axes before the last two go first.
  template <class In, class Out> void blur(const Context& c, const In* in, Out* out) const {
    const Windows& w = c.param<Windows>();
    const Shape& s = c.out(0).shape;
    if (w.count <= 2) return blur_pictures(c, in, out);
    float* floats[2] = {};                           // by turns
    for (int k = 0; k < std::min(w.count - 2, 2); k++)
      floats[k] = static_cast<float*>(c.scratch->take(size_t(s.volume()) * sizeof(float)));
    const auto pass = [&](int i, const auto* from, float* to) {
      const int64_t inner = volume_of(s, w.first + i + 1, s.ndim), whole = s[w.first + i] * inner;
      const HalfWindow half = half_window(w, i);
      for (int64_t k = 0, n = volume_of(s, 0, w.first + i); k < n; k++)
        blur_rows(from + k * whole, to + k * whole, s[w.first + i], inner, half);
    };
    pass(0, in, floats[0]);
    for (int i = 1; i < w.count - 2; i++) pass(i, floats[(i - 1) % 2], floats[i % 2]);
    blur_pictures(c, static_cast<const float*>(floats[(w.count - 3) % 2]), out);
  }

  // The last two axes, or the only one.
  template <class In, class Out> static void blur_pictures(const Context& c, const In* in, Out* out) {
    const Shape& s = c.out(0).shape;
    const Windows& w = c.param<Windows>();
    const int x = w.first + w.count - 1, y = w.count > 1 ? x - 1 : -1;
    const int64_t channels = volume_of(s, x + 1, s.ndim), width = s[x];
    const HalfWindow wx = half_window(w, w.count - 1);
    if (y < 0) {
      BlurColumns columns(width, channels, wx);
      for (int64_t i = 0, n = volume_of(s, 0, x), stride = width * channels; i < n; i++) {
        convert_n(in + i * stride, columns.row(), size_t(stride));
        columns.run(out + i * stride);
      }
      return;
    }
    const HalfWindow wy = half_window(w, w.count - 2);
    const int64_t picture = s[y] * width * channels;
    for (int64_t i = 0, n = volume_of(s, 0, y); i < n; i++)
      blur_picture(in + i * picture, out + i * picture, s[y], width, channels, wy, wx);
  }

  void record_pass(gpu::Recorder& r, int pass, bool last, const float* weights, std::vector<const void*>& from,
                   const std::vector<void*>& scratch) const {
    using Fields = device::BlurFields;
    const DType in = pass ? DType::f32 : r[0].in(0).dtype, out = last ? r[0].out(0).dtype : DType::f32;
    r.elements(PS_FUNCTOR_TEMPLATE(BlurAxis, "filter/gaussian_blur.h", uint8_t, uint8_t)
                   .of(gpu::cpp_type(in) + ", " + gpu::cpp_type(out)),
               [&](const Context& c, void* to) {
                 const Windows& w = c.param<Windows>();
                 const Shape& s = c.out(0).shape;
                 if (s.volume() == 0) return int64_t(0);
                 void* target = last ? c.out(0).data : scratch[size_t(c.index)];
                 *static_cast<Fields*>(to) = {
                     from[size_t(c.index)], target, weights + w.weights_at[pass], w.radius[pass],
                     device::Divisor(uint64_t(volume_of(s, w.first + pass + 1, s.ndim))),
                     device::Divisor(uint64_t(s[w.first + pass]))};
                 from[size_t(c.index)] = target;
                 return s.volume();
               });
  }

  Arg<float> sigma_;
  Arg<int64_t> window_;
  DType dtype_;
};

PS_OPERATOR("gaussian_blur", GaussianBlur)

}  // namespace ps

