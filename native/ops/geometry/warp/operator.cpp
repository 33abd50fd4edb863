// What operators that warp have in common.
#include "ops/geometry/warp/operator.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>

#include "core/converter.h"
#include "ops/arguments/picture_layout.h"
#include "ops/geometry/warp/types.h"

namespace ps {

WarpSpace::WarpSpace(const Tensor& t) {
  const Layout layout = t.layout.empty() ? guessed_layout(t.shape.ndim, false) : t.layout;
  const std::string_view axes = layout.view();
  if (axes != "HWC" && axes != "FHWC" && axes != "DHWC" && axes != "FDHWC")
    fail(ErrorKind::layout, "expected pictures, volumes or frames of them (HWC, FHWC, DHWC, FDHWC), got " +
                                (t.layout.empty() ? "no layout" : "the layout '" + std::string(axes) + "'") +
                                " and the shape " + to_string(t.shape));
  frames = axes[0] == 'F';
  first = frames;
  count = layout.find('D') < 0 ? 2 : 3;
}

WarpOperator::WarpOperator(const Spec& s) : dtype_(s.dtype("dtype")), size_(s.arg<float>("size")) {
  warp_.nearest = s.integer("interp_type") == 0;
  warp_.clamp = !s.find("fill_value");
  warp_.fill = warp_.clamp ? 0 : s.number("fill_value");
}

void WarpOperator::setup(const Context& c) const {
  const Tensor& in = c.in(0);
  const WarpSpace space(in);
  Tensor& out = c.out(0);
  out.dtype = dtype_ == DType::none ? in.dtype : dtype_;
  visit_warp(in.dtype, out.dtype, [](auto, auto) {});
  out.shape = in.shape;
  out.layout = in.layout.empty() ? guessed_layout(in.shape.ndim, false) : in.layout;
  if (size_.given() && size_.size(c) > 0) given_size(c, space, out.shape);
  else find_size(c, space, out.shape);
  for (int i = 0; i < space.count; i++)
    for (const Tensor* t : {&in, const_cast<const Tensor*>(&out)})
      if (t->shape[space.first + i] > kLongest)
        fail(ErrorKind::unsupported, "an extent of " + std::to_string(t->shape[space.first + i]) + " is too large");
  if (in.shape[in.shape.ndim - 1] > kLongest) fail(ErrorKind::unsupported, "there are too many channels");
  check(c, space);
}

Misfit WarpOperator::rows_misfit(const Context& c) const {
  if (c.in(0).shape.ndim != 3) return misfit::no_picture;
  return c.in(0).shape.volume() > 0 && c.out(0).shape.volume() > 0 ? fits : misfit::no_pixels;
}

RowStage* WarpOperator::begin(const Context& c) const {
  WarpStage& stage = c.st<ThreadState>().stage;
  stage.begin(warp_, matrix<2>(c, WarpSpace(c.in(0)), 0), format(c.in(0)), format(c.out(0)));
  return &stage;
}

void WarpOperator::run(const Context& c) const {
  const WarpSpace space(c.in(0));
  if (c.out(0).shape.volume() == 0) return;
  if (space.count == 2) run_frames(c, space, c.st<ThreadState>().pictures);
  else run_frames(c, space, c.st<ThreadState>().volumes);
}

Misfit WarpOperator::stage_misfit(const Context& c) const {
  if (WarpSpace(c.in(0)).count != 2) return "the input is a volume";
  return by_frame(c) ? "each frame has a matrix of its own" : fits;
}

Functor WarpOperator::stage(const Context& c) const {
  return PS_FUNCTOR_TEMPLATE(Warp, "geometry/warp.h", uint8_t, uint8_t, false).of(types(c));
}

void WarpOperator::fill_stage(const Context& c, void* functor) const {
  *static_cast<device::WarpFields<2>*>(functor) = fields<2>(c, WarpSpace(c.in(0)), 0);
}

void WarpOperator::record_alone(gpu::Recorder& r) const {
  if (!r.size()) return;
  if (WarpSpace(r[0].in(0)).count == 2) record_frames<2>(r);
  else record_frames<3>(r);
}

void WarpOperator::given_size(const Context& c, const WarpSpace& space, Shape& out) const {
  if (size_.size(c) != space.count)
    fail(ErrorKind::argument, "size has " + std::to_string(size_.size(c)) + " values: expected " +
                                  std::to_string(space.count));
  for (int i = 0; i < space.count; i++) {
    const float given = size_.get(c, i);             // a node's may be 0
    if (!(size_.per_sample() ? given > -1 : given > 0))
      fail(ErrorKind::argument, "size: the extent " + std::to_string(given) + " is not positive");
    const float extent = size_.per_sample() ? std::trunc(given) : std::max(1.0f, std::round(given));
    out[space.first + i] = int64_t(std::min(extent, 1e12f));
  }
}

std::string WarpOperator::types(const Context& c) const {
  return gpu::cpp_type(c.in(0).dtype) + ", " + gpu::cpp_type(c.out(0).dtype) + (warp_.nearest ? ", true" : ", false");
}

template <int D>
device::AffineMatrix<D> WarpOperator::matrix(const Context& c, const WarpSpace& space, int64_t frame) const {
  device::AffineMatrix<D> m;
  map(c, space, frame, m.v);
  return m;
}

template <int D>
void WarpOperator::run_frames(const Context& c, const WarpSpace& space, Warper<D>& warper) const {
  const Tensor &in = c.in(0), &out = c.out(0);
  const int64_t frames = space.frame_count(out.shape), channels = in.shape[in.shape.ndim - 1];
  int64_t from[3], to[3];
  space.extents(in.shape, from);
  space.extents(out.shape, to);
  const size_t bytes = in.bytes() / size_t(frames);
  const auto row = int64_t(size_of(in.dtype)) * channels * from[0];
  for (int64_t f = 0; f < frames; f++) {
    auto* at = out.as<uint8_t>() + out.bytes() / size_t(frames) * size_t(f);
    if (in.shape.volume() == 0) {
      double fill;
      write_fill(warp_, in.dtype, out.dtype, &fill);
      converter(warp_.nearest ? out.dtype : in.dtype, out.dtype)(&fill, at, 1);
      const size_t one = size_of(out.dtype), all = out.bytes() / size_t(frames);
      for (size_t done = one; done < all; done += one) std::memcpy(at + done, at, one);
      continue;
    }
    warper.begin(warp_, matrix<D>(c, space, f), from, to, int(channels), in.dtype, out.dtype);
    int32_t lo[3] = {}, hi[3] = {};
    for (int d = 0; d < D; d++) hi[d] = int32_t(from[d]) - 1;
    warper.set_source(in.as<uint8_t>() + bytes * size_t(f), row, row * from[1], lo, hi, bytes);
    warper.run(at);
  }
}

template <int D>
device::WarpFields<D> WarpOperator::fields(const Context& c, const WarpSpace& space, int64_t frame) const {
  device::WarpFields<D> f{};
  f.there = map_there(c, space, frame);
  f.invert = map_there_is_forward();
  if (!f.there) f.matrix = matrix<D>(c, space, frame);
  int64_t in[3] = {};
  space.extents(c.in(0).shape, in);
  for (int d = 0; d < D; d++) f.size[d] = int32_t(in[d]);
  f.clamp = warp_.clamp && c.in(0).shape.volume() > 0;
  f.fill = float(warp_.fill);
  return f;
}

template <int D>
void WarpOperator::record_frames(gpu::Recorder& r) const {
  using Fields = device::WarpElementsFields<D>;
  const Functor functor = PS_FUNCTOR_TEMPLATE(WarpElements, "geometry/warp.h", uint8_t, uint8_t, false, D)
                              .of(types(r[0]) + ", " + std::to_string(D));
  int64_t most = 0;
  for (int i = 0; i < r.size(); i++) most = std::max(most, WarpSpace(r[i].in(0)).frame_count(r[i].out(0).shape));
  for (int64_t frame = 0; frame < most; frame++) {
    r.elements(functor, [&](const Context& c, void* to) -> int64_t {
      const Tensor &in = c.in(0), &out = c.out(0);
      const WarpSpace space(in);
      const int64_t frames = space.frame_count(out.shape);
      if (frame >= frames || out.shape.volume() == 0) return 0;
      int64_t extent[3];
      space.extents(out.shape, extent);
      *static_cast<Fields*>(to) = {in.as<uint8_t>() + in.bytes() / size_t(frames) * size_t(frame),
                                   out.as<uint8_t>() + out.bytes() / size_t(frames) * size_t(frame),
                                   int32_t(extent[0]), int32_t(extent[1]), int32_t(out.shape[out.shape.ndim - 1]),
                                   fields<D>(c, space, frame)};
      return out.shape.volume() / frames;
    });
  }
}

}  // namespace ps
