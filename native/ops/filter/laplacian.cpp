// Sums of second derivatives.

#include "device/filter/laplacian.h"

#include <cmath>
#include <string>
#include <vector>

#include "core/convert.h"
#include "core/converter.h"
#include "cuda/record/operator.h"
#include "ops/arguments/frames.h"
#include "ops/arguments/region.h"
#include "ops/filter/filtered_axes.h"
#include "ops/filter/laplacian/rows.h"

namespace ps {

class Laplacian : public Operator, public GpuOperator {
 public:
  explicit Laplacian(const Spec& s)
      : window_(s, "window_size"), smoothing_(s, "smoothing_size"), scale_(s, "scale"),
        normalized_(s.flag("normalized_kernel")), dtype_(s.dtype("dtype")) {}

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
    const FilteredAxes a = filtered_axes(in, "derive along");
    if (a.count > 3)
      fail(ErrorKind::layout, "expected one to three axes, got " + std::to_string(a.count) +
                                  " besides frames and channels");
    const int64_t frames = frames_of(in);
    for (const FrameArg* arg : {&window_, &smoothing_, &scale_})
      if (arg->given()) arg->expect_frames(c, frames);
    for (int64_t f = 0, n = by_frame(c) ? std::max<int64_t>(frames, 0) : 1; f < n; f++)
      for (int i = 0; i < a.count; i++) derivative(c, a, f, i);
  }

  void run(const Context& c) const override {
    const Tensor &in = c.in(0), &out = c.out(0);
    if (out.shape.volume() == 0) return;
    switch (in.dtype) {
      case DType::u8: return derive(c, in.as<uint8_t>());
      case DType::u16: return derive(c, in.as<uint16_t>());
      case DType::i16: return derive(c, in.as<int16_t>());
      case DType::f32: return derive(c, in.as<float>());
      default: {                                     // as floats
        const auto n = size_t(in.shape.volume());
        auto* from = static_cast<float*>(c.scratch->take(n * sizeof(float)));
        converter(in.dtype, DType::f32)(in.data, from, n);
        return derive(c, from);
      }
    }
  }

  void record(gpu::Recorder& r) const override {
    int axes = 0;
    for (int i = 0; i < r.size(); i++) axes = std::max(axes, filtered_axes(r[i].in(0), "").count);
    std::vector<Scratch> scratch;
    for (int i = 0; i < r.size(); i++) {
      const size_t bytes = axes > 1 ? size_t(r[i].in(0).shape.volume()) * sizeof(float) : 0;
      scratch.push_back({});
      for (float*& p : scratch.back().by_turns) p = bytes ? static_cast<float*>(r.scratch(bytes)) : nullptr;
      scratch.back().sum = bytes ? static_cast<float*>(r.scratch(bytes)) : nullptr;
    }
    for (int along = 0; along < axes; along++)
      for (int axis = 0; axis < axes; axis++) record_pass(r, axes, along, axis, scratch);
  }

 private:
  struct Scratch {
    float* by_turns[2];
    float* sum;
  };
  // A derivative along an axis: its windows along all of them, and a factor.
  struct Derivative {
    std::vector<Window1> windows;
    float scale;
  };

  static constexpr int64_t kLargest = 31;

  static int64_t frames_of(const Tensor& t) { return t.layout.axes[0] == 'F' ? t.shape[0] : -1; }
  bool by_frame(const Context& c) const {
    return window_.frames(c) >= 0 || smoothing_.frames(c) >= 0 || scale_.frames(c) >= 0;
  }

  static float value(const Context& c, const FrameArg& a, int64_t frame, int i, int axes) {
    const int64_t have = a.size(c);
    if (have != 1 && have != axes)
      fail(ErrorKind::argument, std::string(a.name()) + " has " + std::to_string(have) + " values for " +
                                    std::to_string(axes) + (axes == 1 ? " axis" : " axes"));
    return a.get(c, frame, have == 1 ? 0 : i);
  }
  static int64_t size(const Context& c, const FrameArg& a, int64_t frame, int i, const FilteredAxes& axes,
                      int64_t least) {
    const float v = value(c, a, frame, i, axes.count);
    if (v >= float(least) && v <= float(kLargest) && int64_t(v) % 2 == 1) return int64_t(v);
    fail(ErrorKind::argument, std::string(a.name()) + " is " + std::to_string(int64_t(v)) + " on " +
                                  axis_name(c.in(0).layout, axes.first + i) + ": expected an odd number from " +
                                  std::to_string(least) + " to " + std::to_string(kLargest));
  }

  // Binomial coefficients; of a derivative twice their difference.
  static Window1 window(int64_t size, bool derives) {
    std::vector<double> v = {1};
    const auto convolve = [&](double sign) {
      v.push_back(0);
      for (size_t i = v.size() - 1; i > 0; i--) v[i] += sign * v[i - 1];
    };
    for (int64_t i = 1; i < size; i++) convolve(derives && i < 3 ? -1 : 1);
    return Window1(v.begin(), v.end());
  }

  Derivative derivative(const Context& c, const FilteredAxes& a, int64_t frame, int along) const {
    Derivative d;
    const int64_t reach = size(c, window_, frame, along, a, 3);
    int64_t all = 0;
    for (int i = 0; i < a.count; i++) {
      const bool smooths = i != along && smoothing_.given();
      const int64_t n = smooths ? size(c, smoothing_, frame, i, a, 1) : reach;
      d.windows.push_back(window(n, i == along));
      all += n;
    }
    d.scale = normalized_ ? std::ldexp(1.0f, int(a.count + 2 - all)) : value(c, scale_, frame, along, a.count);
    return d;
  }

  template <class In> void derive(const Context& c, const In* in) const {
    const Tensor& out = c.out(0);
    const FilteredAxes a = filtered_axes(c.in(0), "");
    const Shape& s = out.shape;
    const int x = a.first + a.count - 1;
    const int64_t channels = volume_of(s, x + 1, s.ndim), width = s[x], height = a.count > 1 ? s[x - 1] : 1;
    const int64_t depth = a.count > 2 ? s[x - 2] : 1, plane = height * width * channels;
    const int64_t frames = by_frame(c) ? frames_of(c.in(0)) : 1, per_frame = volume_of(s, 0, a.first) / frames;
    auto* sum = static_cast<float*>(c.scratch->take(size_t(plane) * sizeof(float)));
    auto* slice = a.count > 2 ? static_cast<float*>(c.scratch->take(size_t(plane) * sizeof(float))) : nullptr;
    const Convert store = converter(DType::f32, out.dtype);
    auto* to = out.as<uint8_t>();
    MirroredRow row;
    for (int64_t f = 0; f < frames; f++) {
      std::vector<Derivative> all;
      for (int i = 0; i < a.count; i++) all.push_back(derivative(c, a, f, i));
      for (int64_t k = 0; k < per_frame; k++, in += depth * plane)
        for (int64_t z = 0; z < depth; z++, to += size_t(plane) * size_of(out.dtype)) {
          std::fill_n(sum, plane, 0.0f);
          for (const Derivative& d : all) {
            const Window1* down = a.count > 1 ? &d.windows[size_t(a.count - 2)] : nullptr;
            const Window1& along = d.windows.back();
            if (!slice) {
              add_derivative(in, height, width, channels, down, along, d.scale, row, sum);
              continue;
            }
            std::fill_n(slice, plane, 0.0f);
            const int64_t reach = int64_t(d.windows[0].size() / 2);
            for (int64_t i = -reach; i <= reach; i++)
              add_weighted(in + device::mirrored_101(z + i, depth) * plane, d.windows[0][size_t(i + reach)], slice,
                           plane);
            add_derivative(slice, height, width, channels, down, along, d.scale, row, sum);
          }
          store(sum, to, size_t(plane));
        }
    }
  }

  void record_pass(gpu::Recorder& r, int axes, int along, int axis, const std::vector<Scratch>& scratch) const {
    const bool first = axis == 0, last = axis + 1 == axes, done = last && along + 1 == axes;
    const DType in = first ? r[0].in(0).dtype : DType::f32, out = done ? r[0].out(0).dtype : DType::f32;
    r.elements(PS_FUNCTOR_TEMPLATE(LaplacianAxis, "filter/laplacian.h", uint8_t, uint8_t)
                   .of(gpu::cpp_type(in) + ", " + gpu::cpp_type(out)),
               [&](const Context& c, void* to) {
                 const Shape& s = c.out(0).shape;
                 if (s.volume() == 0) return int64_t(0);
                 const FilteredAxes a = filtered_axes(c.in(0), "");
                 const int64_t frames = by_frame(c) ? frames_of(c.in(0)) : 1;
                 std::vector<Window1> windows;
                 std::vector<float> weights, scales;
                 size_t widest = 0;
                 for (int64_t f = 0; f < frames; f++) {
                   const Derivative d = derivative(c, a, f, along);
                   windows.push_back(d.windows[size_t(axis)]);
                   scales.push_back(d.scale);
                   widest = std::max(widest, windows.back().size());
                 }
                 for (const Window1& w : windows) {     // each with as many
                   weights.insert(weights.end(), (widest - w.size()) / 2, 0.0f);
                   weights.insert(weights.end(), w.begin(), w.end());
                   weights.insert(weights.end(), (widest - w.size()) / 2, 0.0f);
                 }
                 const Scratch& mine = scratch[size_t(c.index)];
                 const auto there = [&](const std::vector<float>& v) {
                   return static_cast<const float*>(r.constant(v.data(), v.size() * sizeof(float)));
                 };
                 *static_cast<device::LaplacianFields*>(to) = {
                     first ? c.in(0).data : mine.by_turns[axis % 2],
                     done ? c.out(0).data : last ? mine.sum : mine.by_turns[(axis + 1) % 2],
                     there(weights), last ? there(scales) : nullptr, last && along ? mine.sum : nullptr,
                     int32_t(widest / 2),
                     device::Divisor(uint64_t(volume_of(s, a.first + axis + 1, s.ndim))),
                     device::Divisor(uint64_t(s[a.first + axis])), device::Divisor(uint64_t(s.volume() / frames))};
                 return s.volume();
               });
  }

  FrameArg window_, smoothing_, scale_;
  bool normalized_;
  DType dtype_;
};

PS_OPERATOR("laplacian", Laplacian)

}  // namespace ps
