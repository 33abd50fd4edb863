// What operators that resample share: layouts, types, filters, and the ways to run: as a row stage or in memory on the
// CPU, as a stage of pictures or volume by volume on the GPU.
#pragma once

#include <array>
#include <string>

#include "core/operator.h"
#include "cuda/record/operator.h"
#include "cuda/record/picture.h"
#include "ops/geometry/resize/float.h"
#include "ops/geometry/resize/gpu.h"
#include "ops/geometry/resize/nd.h"
#include "ops/geometry/resize/size.h"
#include "rows/frames.h"

namespace ps {

// Where the axes of space are: [first, first + count) of a tensor, in the order depth, height, width.
struct SpaceAxes {
  Layout layout;   // the input's, or what its number of axes stands for
  int first = 0, count = 0;
};

inline SpaceAxes space_axes(const Tensor& t) {
  SpaceAxes s;
  s.layout = t.layout;
  const int n = t.shape.ndim;
  if (t.layout.empty()) s.layout = n == 3 ? "HWC" : n == 4 ? "FHWC" : n == 5 ? "FDHWC" : "";
  const int h = s.layout.find('H');
  if (int(s.layout.view().size()) != n || h < 0 || s.layout.find('W') != h + 1)
    fail(ErrorKind::layout, "expected pictures, videos or volumes (HWC, CHW, FHWC, FCHW, CFHW, DHWC, FDHWC ...), got " +
                                (t.layout.empty() ? "no layout" : "the layout '" + std::string(t.layout.view()) + "'") +
                                " and the shape " + to_string(t.shape));
  const int d = s.layout.find('D');
  if (d >= 0 && d != h - 1)
    fail(ErrorKind::layout,
         "expected depth right before height, got the layout '" + std::string(s.layout.view()) + "'");
  s.first = d >= 0 ? d : h;
  s.count = d >= 0 ? 3 : 2;
  return s;
}

class ResampleOperator : public RowOperator, public StageOperator, public FrameStages {
 public:
  explicit ResampleOperator(const Spec& s)
      : dtype_(s.dtype("dtype")), antialias_(s.flag("antialias")),
        minifying_(filter(s, "min_filter")), magnifying_(filter(s, "mag_filter")) {}

  size_t params_size() const override { return sizeof(Params); }
  std::unique_ptr<State> make_state() const override { return std::make_unique<ThreadState>(); }

  void setup(const Context& c) const override {
    const Tensor& in = c.in(0);
    const SpaceAxes space = space_axes(in);
    Tensor& out = c.out(0);
    set_type(c);
    ResampleRegion regions[3];
    for (int i = 0; i < space.count; i++) regions[i].in = in.shape[space.first + i];
    find(c, space, regions);
    out.shape = in.shape;
    out.layout = space.layout;
    for (int i = 0; i < space.count; i++) {
      if (regions[i].in == 0) regions[i].out = 0;
      out.shape[space.first + i] = regions[i].out;
    }
    place(c, space.first, space.count, regions);
    if (space.count == 2) c.param<Params>().fields = fields(c);
  }

  Misfit rows_misfit(const Context& c) const override {
    const Params& p = c.param<Params>();
    if (!p.is_picture) return misfit::no_picture;
    if (p.axes[0].flipped()) return "rows change their order";
    return c.in(0).shape.volume() > 0 && c.out(0).shape.volume() > 0 ? fits : misfit::no_pixels;
  }

  Misfit frames_misfit(const Context& c) const override {
    const Params& p = c.param<Params>();
    if (!(c.out(0).layout == Layout("FHWC"))) return kNoFrames;
    if (p.axes[0].flipped()) return "rows change their order";
    return c.in(0).shape.volume() > 0 && c.out(0).shape.volume() > 0 ? fits : misfit::no_pixels;
  }

  RowStage* begin_frame(const Context& c, int64_t) const override { return begin(c); }
  RowStage* begin(const Context& c) const override {
    const Params& p = c.param<Params>();
    ResizeStage& stage = c.st<ThreadState>().resampler.stage;
    stage.begin({p.axes[1], p.axes[0]}, format(c.in(0)), c.out(0).dtype);
    if (c.num_outputs > 1 && c.out(1).data) finish(c);
    return &stage;
  }

  void run(const Context& c) const override {
    const Params& p = c.param<Params>();
    const Tensor &in = c.in(0), &out = c.out(0);
    if (c.num_outputs > 1) finish(c);
    if (out.shape.volume() == 0 || in.shape.volume() == 0) return;
    Resampler& resampler = c.st<ThreadState>().resampler;
    for (int64_t i = 0; i < p.outer; i++) {
      const uint8_t* from = in.as<uint8_t>() + in.bytes() / size_t(p.outer) * size_t(i);
      uint8_t* to = out.as<uint8_t>() + out.bytes() / size_t(p.outer) * size_t(i);
      if (p.count == 2) resampler.picture(p.axes, int(p.channels), from, in.dtype, to, out.dtype);
      else resampler.volume(p.axes, int(p.channels), from, in.dtype, to, out.dtype, *c.scratch);
    }
  }

  Misfit stage_misfit(const Context& c) const override {
    return c.param<Params>().count == 2 ? fits : "the input is a volume";
  }

  Functor stage(const Context& c) const override {
    const std::string types = gpu::cpp_type(c.in(0).dtype) + ", " + gpu::cpp_type(c.out(0).dtype);
    Functor stage = PS_FUNCTOR_TEMPLATE(Resample, "geometry/resize.h", uint8_t, uint8_t).of(types);
    stage.tiled = PS_FUNCTOR_TEMPLATE(TiledResample, "geometry/resize.h", uint8_t, uint8_t).of(types).type;
    return stage;
  }

  void fill_stage(const Context& c, void* functor) const override {
    *static_cast<device::ResampleFields*>(functor) = c.param<Params>().fields;
  }

  Extent tile_input(const Context& c, const Extent& output) const override {
    const device::ResampleFields& f = c.param<Params>().fields;
    const auto reach = [](const device::ResampledAxis& axis, int64_t pixels) {
      const double all = std::ceil(double(pixels - 1) * std::abs(double(axis.scale))) + axis.window + 1;
      return int64_t(std::min(all, double(axis.in)));
    };
    return {reach(f.x, output.width), reach(f.y, output.height)};
  }
  int64_t tile_bytes(const Context& c, int step) const override {
    return device::resample_bytes(c.param<Params>().fields, tile_input(c, {device::kTile, step}).width, step);
  }
  Window needed(const Context& c, const Window& output) const override {
    const device::ResampleFields& f = c.param<Params>().fields;
    const auto reach = [](const device::ResampledAxis& axis, int64_t begin, int64_t end, int64_t& from, int64_t& to) {
      const device::AxisTaps first(axis, int(begin)), last(axis, int(end - 1));
      from = std::min(first.begin, last.begin), to = std::max(first.end, last.end) + 1;
    };
    Window input;
    reach(f.x, output.x0, output.x1, input.x0, input.x1);
    reach(f.y, output.y0, output.y1, input.y0, input.y1);
    return input;
  }

  // What is no stage of pictures, such as volumes: rows, columns and slices in turn, by way of floats.
  void record_alone(gpu::Recorder& r) const override {
    if (!r.size()) return;
    const int count = r[0].param<Params>().count;
    std::vector<const void*> in;
    std::vector<std::array<int64_t, 3>> extents;
    for (int i = 0; i < r.size(); i++) {
      const Params& p = r[i].param<Params>();
      if (p.count != count)
        fail(ErrorKind::unsupported, "the samples of a batch on the GPU must be resized along as many axes");
      in.push_back(r[i].in(0).data);
      extents.push_back({p.axes[0].in, p.axes[1].in, p.axes[2].in});
    }
    DType type = r[0].in(0).dtype;
    for (int turn = 0; turn < count; turn++) {
      const int k = (turn + count - 2) % count;              // height, width, depth
      const bool last = turn == count - 1;
      AxisPass pass{type, last ? r[0].out(0).dtype : DType::f32, in, {}, {}, {}, {}};
      std::vector<size_t> sizes;
      size_t total = 0;
      for (int i = 0; i < r.size(); i++) {
        const Params& p = r[i].param<Params>();
        auto& before = extents[size_t(i)];
        if (std::max(p.axes[k].in, p.axes[k].out) > INT32_MAX / 4)
          fail(ErrorKind::unsupported, "an axis is too long to be resampled on a GPU");
        pass.axes.push_back(p.axes[k]);
        pass.outer.push_back(p.outer);
        pass.inner.push_back(p.channels);
        for (int d = 0; d < k; d++) pass.outer.back() *= before[size_t(d)];
        for (int d = k + 1; d < count; d++) pass.inner.back() *= before[size_t(d)];
        before[size_t(k)] = p.axes[k].out;
        sizes.push_back(size_t(pass.outer.back() * p.axes[k].out * pass.inner.back()));
        total += sizes.back();
      }
      auto* scratch = last ? nullptr : static_cast<float*>(r.scratch(total * sizeof(float)));
      for (int i = 0; i < r.size(); i++) {
        pass.out.push_back(last ? r[i].out(0).data : scratch);
        if (!last) scratch += sizes[size_t(i)];
      }
      record_pass(r, pass);
      in.assign(pass.out.begin(), pass.out.end());
      type = DType::f32;
    }
  }

 protected:
  struct Params {
    ResampleAxis axes[3];              // depth, height and width, or the last two
    int count = 0;                     // of the axes
    int64_t outer = 1, channels = 1;   // how many of them there are, and elements behind the last axis
    bool is_picture = false;           // of three axes, HWC
    device::ResampleFields fields;     // of pictures
  };

  // Completes the regions, whose `in` is set.
  virtual void find(const Context&, const SpaceAxes&, ResampleRegion*) const {}
  // Writes the second output, where there is one.
  virtual void finish(const Context&) const {}

  void set_type(const Context& c) const {
    c.out(0).dtype = dtype_ == DType::none ? c.in(0).dtype : dtype_;
    check_types(c.in(0).dtype, c.out(0).dtype);
  }

  // The axes [first, first + count) of the input are resampled.
  void place(const Context& c, int first, int count, const ResampleRegion* regions) const {
    const Shape& shape = c.in(0).shape;
    Params& p = c.param<Params>();
    p.count = count;
    p.outer = p.channels = 1;
    for (int i = 0; i < first; i++) p.outer *= shape[i];
    for (int i = first + count; i < shape.ndim; i++) p.channels *= shape[i];
    p.is_picture = first == 0 && count == 2 && shape.ndim == 3;
    for (int i = 0; i < count; i++) {
      p.axes[i] = axis(c, regions[i]);
      p.axes[i].summed = i < count - 1;         // along all but rows
    }
  }

  ResampleAxis axis(const Context& c, ResampleRegion r) const {
    // A region without extent still shows the pixel that it lies in.
    constexpr double kLeast = 1e-3;
    if (std::abs(r.hi - r.lo) < kLeast) {
      const double centre = (r.lo + r.hi) / 2, half = r.hi < r.lo ? -kLeast / 2 : kLeast / 2;
      r.lo = centre - half, r.hi = centre + half;
    }
    const Arg<int>& filter = std::abs(r.hi - r.lo) > double(r.out) ? minifying_ : magnifying_;
    const int number = filter.get(c);
    if (number < 0 || number > int(Interp::gaussian))
      fail(ErrorKind::argument, "there is no interpolation with the number " + std::to_string(number));
    ResampleAxis a{r.in, r.out, float(r.lo), float(r.hi), Interp(number), antialias_};
    if (a.filter == Interp::triangular) a.filter = Interp::linear;
    return a;
  }

 private:
  struct ThreadState : State {
    Resampler resampler;
  };

  static void check_types(DType in, DType out) {
    if (in != DType::u8 && in != DType::i16 && in != DType::u16 && in != DType::f32)
      fail(ErrorKind::type, std::string("expected UINT8, INT16, UINT16 or FLOAT, got ") + name_of(in));
    if (out != in && out != DType::f32)
      fail(ErrorKind::type, std::string("dtype: expected the input's type, ") + name_of(in) + ", or FLOAT; got " +
                                name_of(out));
  }

  static device::ResampleFields fields(const Context& c) {
    const Params& p = c.param<Params>();
    if (c.out(0).shape.volume() == 0) return {};
    const auto pictures = gpu::pictures_of(c.in(0));
    return resample_fields(p.axes[0], p.axes[1], pictures ? int(pictures->channels) : 1,
                           c.in(0).dtype == DType::u8 && c.out(0).dtype == DType::u8);
  }

  // That for one direction, or where it is not given, that for both.
  static Arg<int> filter(const Spec& s, const char* name) {
    const Arg<int> both = s.arg<int>("interp_type"), own = s.arg<int>(name);
    return own.given() ? own : both;
  }

  DType dtype_;
  bool antialias_;
  Arg<int> minifying_, magnifying_;
};

}  // namespace ps
