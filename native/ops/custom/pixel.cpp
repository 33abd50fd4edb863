// Operators of others' libraries that change each pixel by itself: as built-in ones, they are stages of row pipelines
// and of the GPU's chains. The library's function sees rows of floats.

#include <cstring>

#include "device/custom/pixel.h"
#include "ops/color/pixel_lanes.h"
#include "ops/color/pixels.h"
#include "ops/custom/device_text.h"
#include "ops/custom/instance.h"
#include "ops/custom/operators.h"

namespace ps::custom {
namespace {

using Row = void (*)(const void* params, const float* from, float* to, int64_t n);
using Loop = void (*)(Row row, const void* params, const void* from, void* to, size_t n, size_t width);

template <class In> void to_floats(const In* from, float* to, size_t n) {
  if constexpr (std::is_same_v<In, uint8_t>) lanes::affine_bytes(from, n, 1, 0, to);
  else convert_n(from, to, n);
}
template <class Out> void from_floats(const float* from, Out* to, size_t n) {
  if constexpr (std::is_same_v<Out, uint8_t>) lanes::bytes_from_floats(from, n, to);
  else convert_n(from, to, n);
}

// n pixels of `width` elements, so many at a time that their floats stay in the first cache.
template <class In, class Out>
void loop_of(Row row, const void* params, const void* from, void* to, size_t n, size_t width) {
  constexpr bool same_in = std::is_same_v<In, float>, same_out = std::is_same_v<Out, float>;
  constexpr size_t kFloats = 1024;
  const auto* in = static_cast<const In*>(from);
  auto* out = static_cast<Out*>(to);
  if constexpr (same_in && same_out) {
    if (n) row(params, in, out, int64_t(n));
    return;
  }
  alignas(64) float source[same_in ? 1 : kFloats];
  alignas(64) float target[same_out ? 1 : kFloats];
  for (size_t block = kFloats / width; n; n -= block) {
    block = std::min(block, n);
    const float* values = nullptr;
    float* results = nullptr;
    if constexpr (same_in) values = in;
    else to_floats(in, source, block * width), values = source;
    if constexpr (same_out) results = out;
    else results = target;
    row(params, values, results, int64_t(block));
    if constexpr (!same_out) from_floats<Out>(target, out, block * width);
    in += block * width;
    out += block * width;
  }
}

Loop loop(DType in, DType out) {
  return visit_pixel(in, "the input", [&](auto from) {
    return visit_pixel(out, "the output", [](auto to) -> Loop {
      return loop_of<typename decltype(from)::type, typename decltype(to)::type>;
    });
  });
}

class Pixel : public RowOperator, public StageOperator {
 public:
  Pixel(const penstock_operator& op, const Spec& spec) : instance_(op, spec) {}

  size_t params_size() const override { return instance_.op.params_bytes; }
  std::unique_ptr<State> make_state() const override { return std::make_unique<ThreadState>(); }

  void setup(const Context& c) const override {
    const Tensor& in = c.in(0);
    const int last = in.shape.ndim - 1, channels = instance_.op.channels;
    if (channels && (last < 0 || in.shape[last] != channels ||
                     (!in.layout.empty() && in.layout.find('C') != last)))
      fail(ErrorKind::layout, "expected " + std::to_string(channels) + " channels as the last axis, got the layout '" +
                                  in.layout.axes + "' and the shape " + to_string(in.shape));
    visit_pixel(in.dtype, "the input", [](auto) {});
    Tensor& out = c.out(0);
    out.dtype = in.dtype;
    out.shape = in.shape;
    out.layout = in.layout;
    instance_.setup(c);
    if (!(out.shape == in.shape && out.layout == in.layout))
      fail(ErrorKind::internal, "its setup() gives the output another shape or layout than the input has: of pixels it "
                                "may change the type alone");
    visit_pixel(out.dtype, "the output", [](auto) {});
  }

  void run(const Context& c) const override {
    const Tensor &in = c.in(0), &out = c.out(0);
    const size_t pixels = size_t(in.shape.volume()) / width();
    loop(in.dtype, out.dtype)(instance_.op.row, c.params, in.data, out.data, pixels, width());
  }

  Misfit rows_misfit(const Context& c) const override {
    const Shape& s = c.in(0).shape;
    if (s.ndim != 3 && (s.ndim != 2 || instance_.op.channels)) return misfit::no_picture;
    return s.volume() > 0 ? fits : misfit::no_pixels;
  }

  RowStage* begin(const Context& c) const override {
    Stage& stage = c.st<ThreadState>().stage;
    stage.in = format(c.in(0));
    stage.out = format(c.out(0));
    stage.row = instance_.op.row;
    stage.params = c.params;
    stage.width = width();
    stage.loop = loop(stage.in.dtype, stage.out.dtype);
    return &stage;
  }

  Misfit stage_misfit(const Context&) const override { return fits; }
  bool one_to_one() const override { return true; }
  Functor stage(const Context& c) const override { return functor(stage_type(c.out(0).dtype), params_size()); }
  void fill_stage(const Context& c, void* functor) const override { std::memcpy(functor, c.params, params_size()); }

  void record_alone(gpu::Recorder& r) const override {
    if (!r.size()) return;
    // As device::Pixels has it: two pointers, and then the functor, which no struct here tells of.
    constexpr size_t head = 2 * sizeof(void*);
    static_assert(head % kMostAlign == 0);
    const size_t align = std::max<size_t>(alignof(void*), instance_.op.params_align);
    const size_t bytes = (head + params_size() + align - 1) / align * align;
    const DType in = r[0].in(0).dtype, out = r[0].out(0).dtype;
    const std::string types = gpu::cpp_type(in) + ", " + gpu::cpp_type(out) + ", " + std::to_string(width()) + ", ";
    Functor job = functor(PS_DEVICE_TEMPLATE(Pixels, float, float, 1, void).of(types + stage_type(out)), bytes);
    job.align = align;
    r.elements(job, [&](const Context& c, void* to) {
      const void* pointers[] = {c.in(0).data, c.out(0).data};
      std::memcpy(to, pointers, sizeof pointers);
      std::memcpy(static_cast<uint8_t*>(to) + head, c.params, params_size());
      return c.in(0).shape.volume() / int64_t(width());
    });
  }

 private:
  static constexpr size_t kMostAlign = 16;

  struct Stage : MapStage {
    Row row = nullptr;
    Loop loop = nullptr;
    const void* params = nullptr;
    size_t width = 1;
    void map(const void* from, void* to, size_t pixels) override {
      loop(row, params, from, to, pixels * size_t(out.channels) / width, width);
    }
  };
  struct ThreadState : SampleView {
    Stage stage;
  };

  size_t width() const { return instance_.op.channels ? size_t(instance_.op.channels) : 1; }

  std::string stage_type(DType out) const {
    const int n = instance_.op.channels;
    const auto type =
        n ? PS_DEVICE_TEMPLATE(CustomPixel, float, 1, void) : PS_DEVICE_TEMPLATE(CustomElement, float, void);
    return type.of(gpu::cpp_type(out) + ", " + (n ? std::to_string(n) + ", " : "") + device_type(instance_.op));
  }

  Functor functor(const std::string& type, size_t bytes) const {
    Functor f{type, "device/custom/pixel.h", bytes, instance_.op.params_align};
    f.text = device_text(instance_.op);
    return f;
  }

  Instance instance_;
};

}  // namespace

std::unique_ptr<Operator> make_pixel(const penstock_operator& op, const Spec& spec) {
  return std::make_unique<Pixel>(op, spec);
}

}  // namespace ps::custom
