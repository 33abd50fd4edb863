// Windows that weigh neighbours by a Gaussian, one axis after the other.

#include "device/filter/gaussian_blur.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "core/convert.h"
#include "core/converter.h"
#include "cuda/record/operator.h"
#include "ops/arguments/axes.h"
#include "ops/arguments/frames.h"
#include "ops/arguments/region.h"
#include "ops/filter/filtered_axes.h"
#include "ops/filter/gaussian_blur/rows.h"

namespace ps {

class GaussianBlur : public Operator, public GpuOperator {
 public:
  explicit GaussianBlur(const Spec& s)
      : sigma_(s, "sigma"), window_(s, "window_size"), dtype_(s.dtype("dtype")) {}

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
    const int64_t frames = frames_of(in);
    for (const FrameArg* arg : {&sigma_, &window_})
      if (arg->given()) arg->expect_frames(c, frames);
    c.param<Windows>() = windows(c, 0);
    for (int64_t f = 1; by_frame(c) && f < frames; f++) windows(c, f);
  }

  void run(const Context& c) const override {
    if (c.out(0).shape.volume() == 0) return;
    if (!by_frame(c)) return run_one(c);
    // Each frame as a sample.
    Tensor in = c.in(0), out = c.out(0);
    const int64_t frames = in.shape[0];
    const int64_t in_bytes = int64_t(in.bytes()) / frames, out_bytes = int64_t(out.bytes()) / frames;
    in.shape[0] = out.shape[0] = 1;
    for (int64_t f = 0; f < frames; f++) {
      in.data = c.in(0).as<uint8_t>() + f * in_bytes;
      out.data = c.out(0).as<uint8_t>() + f * out_bytes;
      Windows own = windows(c, f);
      const Tensor* inputs[] = {&in};
      Tensor* outputs[] = {&out};
      Context frame = c;
      frame.inputs = inputs, frame.outputs = outputs, frame.params = &own;
      run_one(frame);
    }
  }

  void run_one(const Context& c) const {
    const Tensor &in = c.in(0), &out = c.out(0);
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
    std::vector<float> weights;                      // of all samples, axes and frames
    std::vector<int32_t> radii;
    for (int i = 0; i < r.size(); i++) {
      from.push_back(r[i].in(0).data);
      Windows& w = r[i].param<Windows>();
      const int64_t frames = by_frame(r[i]) ? frames_of(r[i].in(0)) : 1;
      for (int k = 0; k < w.count; k++) {
        w.weights_at[k] = int64_t(weights.size());
        w.radii_at[k] = int64_t(radii.size());
        for (int64_t f = 0; f < frames; f++) radii.push_back(f ? windows(r[i], f).radius[k] : w.radius[k]);
        const int32_t* own = radii.data() + w.radii_at[k];
        w.step[k] = frames ? 1 + *std::max_element(own, own + frames) : 0;
        for (int64_t f = 0; f < frames; f++) {
          const HalfWindow half = half_window(f ? windows(r[i], f) : w, k);
          weights.insert(weights.end(), half.begin(), half.end());
          weights.resize(size_t(w.weights_at[k] + (f + 1) * w.step[k]));
        }
      }
      for (int k = 0; k < 2; k++)
        scratch[k].push_back(passes > k + 1 ? r.scratch(size_t(r[i].out(0).shape.volume()) * sizeof(float)) : nullptr);
    }
    const auto* there = static_cast<const float*>(r.constant(weights.data(), weights.size() * sizeof(float)));
    const auto* reach = static_cast<const int32_t*>(r.constant(radii.data(), radii.size() * sizeof(int32_t)));
    for (int pass = 0; pass < passes; pass++)
      record_pass(r, pass, pass + 1 == passes, there, reach, from, scratch[pass % 2]);
  }

  size_t params_size() const override { return sizeof(Windows); }

 private:
  struct Windows {
    int first, count;                                // the axes that are blurred
    int32_t radius[kMaxDims];
    float sigma[kMaxDims];
    int64_t weights_at[kMaxDims], radii_at[kMaxDims], step[kMaxDims];  // on the GPU: where they are, for each frame
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

  static int64_t frames_of(const Tensor& t) { return t.layout.axes[0] == 'F' ? t.shape[0] : -1; }
  bool by_frame(const Context& c) const { return sigma_.frames(c) >= 0 || window_.frames(c) >= 0; }

  // Of a frame, if they differ.
  Windows windows(const Context& c, int64_t frame) const {
    const Tensor& in = c.in(0);
    Windows w = axes(in);
    if (frames_of(in) == 0 && by_frame(c)) return w;
    for (int i = 0; i < w.count; i++) {
      const float sigma = value(c, sigma_, frame, i, w.count), size = value(c, window_, frame, i, w.count);
      if (size != std::floor(size))
        fail(ErrorKind::argument, "window_size is " + std::to_string(size) + ": expected a whole number");
      check(sigma, size > -1e9f && size < 1e9f ? int64_t(size) : -1, axis_name(in.layout, w.first + i));
      w.radius[i] = size > 0 ? int32_t(size) / 2 : int32_t(std::ceil(3 * sigma));
      w.sigma[i] = sigma > 0 ? sigma : float(w.radius[i] - 1) * 0.3f + 0.8f;
    }
    return w;
  }

  static float value(const Context& c, const FrameArg& a, int64_t frame, int i, int axes) {
    if (!a.given() || a.size(c) == 0) return 0;
    const int64_t have = a.size(c);
    if (have != 1 && have != axes)
      fail(ErrorKind::argument, std::string(a.name()) + " has " + std::to_string(have) + " values for " +
                                    std::to_string(axes) + (axes == 1 ? " axis" : " axes"));
    return a.get(c, frame, have == 1 ? 0 : i);
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

  void record_pass(gpu::Recorder& r, int pass, bool last, const float* weights, const int32_t* radii,
                   std::vector<const void*>& from, const std::vector<void*>& scratch) const {
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
                     from[size_t(c.index)], target, weights + w.weights_at[pass],
                     radii + w.radii_at[pass], w.step[pass],
                     device::Divisor(uint64_t(volume_of(s, w.first + pass + 1, s.ndim))),
                     device::Divisor(uint64_t(s[w.first + pass])),
                     device::Divisor(uint64_t(s.volume() / (by_frame(c) ? frames_of(c.in(0)) : 1)))};
                 from[size_t(c.index)] = target;
                 return s.volume();
               });
  }

  FrameArg sigma_, window_;
  DType dtype_;
};

PS_OPERATOR("gaussian_blur", GaussianBlur)

}  // namespace ps

