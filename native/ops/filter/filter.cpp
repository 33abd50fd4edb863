// Windows of any weights over pictures and volumes.

#include "device/filter/filter.h"

#include <string>
#include <vector>

#include "core/convert.h"
#include "cuda/record/operator.h"
#include "ops/arguments/frames.h"
#include "ops/arguments/region.h"
#include "ops/filter/filtered_axes.h"

namespace ps {

// Calls f(tag) for the types that inputs may have.
template <class F> decltype(auto) visit_filtered(DType t, F&& f) {
  switch (t) {
    case DType::u8: return f(std::type_identity<uint8_t>{});
    case DType::i8: return f(std::type_identity<int8_t>{});
    case DType::u16: return f(std::type_identity<uint16_t>{});
    case DType::i16: return f(std::type_identity<int16_t>{});
    case DType::f16: return f(std::type_identity<half>{});
    case DType::f32: return f(std::type_identity<float>{});
    default:
      fail(ErrorKind::type, std::string("the input is ") + name_of(t) +
                                ": expected UINT8, INT8, UINT16, INT16, FLOAT16 or FLOAT");
  }
}

class Filter : public Operator, public GpuOperator {
 public:
  static constexpr Count kInputs{2, 3};
  explicit Filter(const Spec& s)
      : anchor_(s, "anchor"), dtype_(s.dtype("dtype")), valid_(s.string("mode") == "valid") {
    const std::string border = s.string("border");
    border_ = border == "reflect_1001" ? device::kReflected1001 : border == "wrap" ? device::kWrapped
              : border == "clamp" ? device::kReplicated : border == "constant" ? device::kLeftOut
                                                                                : device::kReflected101;
  }

  void setup(const Context& c) const override {
    const Tensor &in = c.in(0), &filter = c.in(1);
    Tensor& out = c.out(0);
    visit_filtered(in.dtype, [](auto) {});
    out.dtype = dtype_ == DType::none ? in.dtype : dtype_;
    if (out.dtype != in.dtype && out.dtype != DType::f32)
      fail(ErrorKind::argument, std::string("dtype is ") + name_of(out.dtype) + ": expected FLOAT, or the input's " +
                                    name_of(in.dtype));
    const FilteredAxes a = filtered_axes(in, "filter");
    if (a.count != 2 && a.count != 3)
      fail(ErrorKind::layout, "expected pictures or volumes, got the shape " + to_string(in.shape) +
                                  (in.layout.empty() ? "" : ", of which the layout '" + std::string(in.layout.axes) +
                                                                "' leaves " + std::to_string(a.count) + " axes"));
    const int64_t frames = in.layout.axes[0] == 'F' ? in.shape[0] : -1;
    const int first = has_frames(&filter) ? 1 : 0;
    if (filter.dtype != DType::f32)
      fail(ErrorKind::type, std::string("the filter is ") + name_of(filter.dtype) + ": expected FLOAT");
    if (filter.shape.ndim != first + a.count)
      fail(ErrorKind::argument, "the filter has the shape " + to_string(filter.shape) + ": expected " +
                                    std::to_string(a.count) + " axes");
    if (first) expect_frames("filters", filter.shape[0], frames);
    Params& p = c.param<Params>() = {};
    p.axes = a;
    for (int i = 0; i < 3; i++) p.size[i] = p.window[i] = p.out[i] = 1;
    for (int i = 0, k = 3 - a.count; k < 3; i++, k++) {
      const int64_t size = in.shape[a.first + i], window = filter.shape[first + i];
      if (window == 0)
        fail(ErrorKind::argument, "the filter has the shape " + to_string(filter.shape) + ": it is empty");
      if (size > INT32_MAX || window > INT32_MAX) fail(ErrorKind::unsupported, "an extent is too large");
      if (valid_ && size < window)
        fail(ErrorKind::argument, "mode='valid': on " + axis_name(in.layout, a.first + i) + " the filter has " +
                                      std::to_string(window) + " places, the input " + std::to_string(size));
      p.size[k] = int32_t(size);
      p.window[k] = int32_t(window);
      p.out[k] = int32_t(valid_ ? size - window + 1 : size);
    }
    out.shape = in.shape;
    for (int i = 0; i < a.count; i++) out.shape[a.first + i] = p.out[3 - a.count + i];
    out.layout = in.layout;
    if (c.num_inputs > 2) check_fill(c, frames);
    anchor_.expect_frames(c, frames);
    p.frames = has_frames(&filter) || anchor_.frames(c) >= 0 || (c.num_inputs > 2 && has_frames(&c.in(2))) ? frames : 1;
    for (int64_t f = 0; f < p.frames; f++) {
      int32_t anchor[3];
      find_anchor(c, p, f, anchor);
    }
  }

  void run(const Context& c) const override {
    const Tensor &in = c.in(0), &out = c.out(0);
    if (out.shape.volume() == 0) return;
    visit_filtered(in.dtype, [&](auto tag) {
      using In = typename decltype(tag)::type;
      if (out.dtype == in.dtype) filter<In, In>(c);
      else filter<In, float>(c);
    });
  }

  void record(gpu::Recorder& r) const override {
    const std::string types = gpu::cpp_type(r[0].in(0).dtype) + ", " + gpu::cpp_type(r[0].out(0).dtype);
    const auto functor = PS_FUNCTOR_TEMPLATE(Filtered, "filter/filter.h", uint8_t, uint8_t).of(types);
    r.elements(functor, [&](const Context& c, void* to) {
      const Shape& s = c.out(0).shape;
      const Params& p = c.param<Params>();
      if (s.volume() == 0) return int64_t(0);
      std::vector<int32_t> anchors(size_t(p.frames) * 3);
      for (int64_t f = 0; f < p.frames; f++) find_anchor(c, p, f, anchors.data() + 3 * f);
      const int64_t channels = volume_of(s, p.axes.first + p.axes.count, s.ndim);
      const int64_t runs = (int64_t(p.out[2]) + device::kFilterRun - 1) / device::kFilterRun;
      const bool filled = c.num_inputs > 2;
      *static_cast<device::FilterFields*>(to) = {
          c.in(0).data, c.out(0).data, c.in(1).as<float>(),
          static_cast<const int32_t*>(r.constant(anchors.data(), anchors.size() * sizeof(int32_t))),
          filled ? c.in(2).data : nullptr, weights_step(c), filled && has_frames(&c.in(2)) ? 1 : 0,
          {p.size[0], p.size[1], p.size[2]}, {p.window[0], p.window[1], p.window[2]}, p.out[2], border_,
          device::Divisor(uint64_t(channels)), device::Divisor(uint64_t(runs)), device::Divisor(uint64_t(p.out[1])),
          device::Divisor(uint64_t(p.out[0])), device::Divisor(uint64_t(volume_of(s, 0, p.axes.first) / p.frames))};
      return s.volume() / p.out[2] * runs;
    });
  }

  size_t params_size() const override { return sizeof(Params); }

 private:
  // Planes, rows and columns; a picture is a volume of one plane.
  struct Params {
    FilteredAxes axes;
    int32_t size[3], window[3], out[3];
    int64_t frames;                                  // with weights, anchors or fills of their own; 1: none has
  };

  static void expect_frames(const char* what, int64_t n, int64_t frames) {
    if (n != frames)
      fail(ErrorKind::argument, std::string("there are ") + what + " for " + std::to_string(n) +
                                    " frames, but the input has " +
                                    (frames < 0 ? "no frames" : std::to_string(frames)));
  }

  static void check_fill(const Context& c, int64_t frames) {
    const Tensor &in = c.in(0), &fill = c.in(2);
    if (fill.dtype != in.dtype)
      fail(ErrorKind::type, std::string("the fill value is ") + name_of(fill.dtype) + ": expected the input's type, " +
                                name_of(in.dtype));
    const bool each = has_frames(&fill);
    if (each) expect_frames("fill values", fill.shape[0], frames);
    if (fill.shape.volume() != (each ? fill.shape[0] : 1))
      fail(ErrorKind::argument, "the fill value has the shape " + to_string(fill.shape) + ": expected a single number" +
                                    (each ? " for each frame" : ""));
  }

  void find_anchor(const Context& c, const Params& p, int64_t frame, int32_t* to) const {
    const int n = p.axes.count;
    to[0] = to[1] = to[2] = 0;
    if (valid_) return;
    float given[3];
    anchor_.list(c, frame, n, given);
    for (int i = 0; i < n; i++) {
      const int32_t window = p.window[3 - n + i];
      if (given[i] != -1 && !(given[i] >= 0 && given[i] < float(window)))
        fail(ErrorKind::argument, "anchor is " + std::to_string(int64_t(given[i])) + " on " +
                                      axis_name(c.in(0).layout, p.axes.first + i) + ": expected -1, or 0 to " +
                                      std::to_string(window - 1));
      to[3 - n + i] = given[i] == -1 ? window / 2 : int32_t(given[i]);
    }
  }

  static int64_t weights_step(const Context& c) {
    const Shape& s = c.in(1).shape;
    return has_frames(&c.in(1)) && s[0] ? s.volume() / s[0] : 0;
  }

  // Rows of the input that the window needs, as floats and with what stands beyond their ends. Of each plane of the
  // window, the rows of the last places are kept.
  template <class In> struct Rows {
    const Params& p;
    int32_t border;
    int64_t channels;
    const int32_t* anchor;
    float fill;
    std::vector<float> kept = {};
    std::vector<int64_t> which = {};                 // place of each of the kept rows

    size_t row_size() const { return size_t((p.out[2] + p.window[2] - 1) * channels); }
    void begin() {
      kept.resize(size_t(p.window[0] * p.window[1]) * row_size());
      which.assign(size_t(p.window[0] * p.window[1]), INT64_MIN);
    }
    // Row y of plane z of the picture, either of which may lie beyond it, for plane kz of the window.
    const float* row(const In* picture, int kz, int64_t z, int64_t y) {
      const auto slot = size_t(kz * p.window[1]) + size_t((y % p.window[1] + p.window[1]) % p.window[1]);
      float* to = kept.data() + slot * row_size();
      if (which[slot] == y) return to;
      which[slot] = y;
      const int64_t from_z = device::border_place(border, z, p.size[0]);
      const int64_t from_y = device::border_place(border, y, p.size[1]);
      if (from_z < 0 || from_y < 0) {
        std::fill_n(to, row_size(), fill);
        return to;
      }
      const In* from = picture + (from_z * p.size[1] + from_y) * p.size[2] * channels;
      const int64_t left = anchor[2], n = p.out[2] + p.window[2] - 1;
      const int64_t inside = std::min<int64_t>(p.size[2], n - left);
      convert_n(from, to + left * channels, size_t(inside * channels));
      for (int64_t i = 0; i < n; i++) {
        if (i == left) i += inside;
        if (i >= n) break;
        const int64_t x = device::border_place(border, i - left, p.size[2]);
        for (int64_t k = 0; k < channels; k++)
          to[i * channels + k] = x < 0 ? fill : convert<float>(from[x * channels + k]);
      }
      return to;
    }
  };

  template <class In, class Out> void filter(const Context& c) const {
    const Params& p = c.param<Params>();
    const Shape& s = c.out(0).shape;
    const int64_t channels = volume_of(s, p.axes.first + p.axes.count, s.ndim), n = p.out[2] * channels;
    const int64_t per_frame = volume_of(s, 0, p.axes.first) / p.frames;
    const int64_t picture = int64_t(p.size[0]) * p.size[1] * p.size[2] * channels;
    const In* in = c.in(0).as<In>();
    Out* out = c.out(0).as<Out>();
    std::vector<float> sums(static_cast<size_t>(n));
    float* __restrict sum = sums.data();
    for (int64_t f = 0; f < p.frames; f++) {
      int32_t anchor[3];
      find_anchor(c, p, f, anchor);
      const float* weights = c.in(1).as<float>() + f * weights_step(c);
      const float fill =
          c.num_inputs > 2 ? convert<float>(c.in(2).as<In>()[has_frames(&c.in(2)) ? f : 0]) : 0.0f;
      Rows<In> rows{p, border_, channels, anchor, fill};
      for (int64_t k = 0; k < per_frame; k++, in += picture)
        for (int64_t z = 0; z < p.out[0]; z++) {
          rows.begin();
          for (int64_t y = 0; y < p.out[1]; y++, out += n) {
            std::fill_n(sum, n, 0.0f);
            const float* w = weights;
            for (int kz = 0; kz < p.window[0]; kz++)
              for (int ky = 0; ky < p.window[1]; ky++) {
                const float* row = rows.row(in, kz, z - anchor[0] + kz, y - anchor[1] + ky);
                for (int kx = 0; kx < p.window[2]; kx++, w++) add(row + kx * channels, *w, sum, n);
              }
            for (int64_t i = 0; i < n; i++) out[i] = rounded<Out>(sum[i]);
          }
        }
    }
  }

  static void add(const float* __restrict from, float weight, float* __restrict sum, int64_t n) {
    for (int64_t i = 0; i < n; i++) sum[i] += weight * from[i];
  }
  template <class Out> static Out rounded(float sum) {
    if constexpr (detail::is_real<Out>) return convert<Out>(sum);
    else return convert<Out>(std::rint(sum));
  }

  FrameArg anchor_;
  DType dtype_;
  bool valid_;
  int32_t border_;
};

PS_OPERATOR("filter", Filter)

}  // namespace ps
