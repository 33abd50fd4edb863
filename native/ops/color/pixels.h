// What operators that change each pixel by itself have in common: on the CPU, stages of row pipelines; on the GPU,
// stages of fused kernels.
#pragma once

#include "device/picture/pixels.h"

#include <algorithm>
#include <cstring>
#include <initializer_list>
#include <string>
#include <type_traits>
#include <vector>

#include "core/convert.h"
#include "cuda/record/operator.h"
#include "ops/arguments/frames.h"
#include "rows/map_stage.h"

namespace ps {

// Calls f(tag) for the types that pixels may have.
template <class F> decltype(auto) visit_pixel(DType t, const char* what, F&& f) {
  switch (t) {
    case DType::u8: return f(std::type_identity<uint8_t>{});
    case DType::i16: return f(std::type_identity<int16_t>{});
    case DType::i32: return f(std::type_identity<int32_t>{});
    case DType::f16: return f(std::type_identity<half>{});
    case DType::f32: return f(std::type_identity<float>{});
    default:
      fail(ErrorKind::type,
           std::string(what) + " is " + name_of(t) + ": expected UINT8, INT16, INT32, FLOAT16 or FLOAT");
  }
}

// `Functor` is the stage functor of the GPU, with any type of the output: its fields are the operator's parameters on
// the CPU too. N: how many elements must be seen together. Derived classes' setup() calls begin_setup(), and then
// set_functors().
template <class Functor, int N> class PixelOperator : public RowOperator, public StageOperator {
 public:
  // n pixels of N elements.
  using Loop = void (*)(const Functor&, const void* from, void* to, size_t n);

  size_t params_size() const override { return sizeof(Params); }
  std::unique_ptr<State> make_state() const override { return std::make_unique<ThreadState>(); }

  void run(const Context& c) const override {
    const Tensor &in = c.in(0), &out = c.out(0);
    const Params& p = c.param<Params>();
    const Loop each = loop(in.dtype, out.dtype);
    if (!p.frames) return each(p.all, in.data, out.data, size_t(in.shape.volume() / N));
    const int64_t frames = in.shape[0];
    const size_t n = frames ? size_t(in.shape.volume() / frames) : 0;
    for (int64_t f = 0; f < frames; f++)
      each(p.frames[f], in.as<uint8_t>() + size_t(f) * n * size_of(in.dtype),
           out.as<uint8_t>() + size_t(f) * n * size_of(out.dtype), n / N);
  }

  Misfit rows_misfit(const Context& c) const override {
    const Shape& s = c.in(0).shape;
    if (c.param<Params>().frames) return kFramesDiffer;
    if (s.ndim != 2 && s.ndim != 3) return misfit::no_picture;
    return s.volume() > 0 ? fits : misfit::no_pixels;
  }

  RowStage* begin(const Context& c) const override {
    Stage& stage = c.st<ThreadState>().stage;
    stage.in = format(c.in(0));
    stage.out = format(c.out(0));
    stage.functor = c.param<Params>().all;
    stage.loop = loop(stage.in.dtype, stage.out.dtype);
    return &stage;
  }

  Misfit stage_misfit(const Context& c) const override { return c.param<Params>().frames ? kFramesDiffer : fits; }
  ::ps::Functor stage(const Context& c) const override {
    return functor_.of(gpu::cpp_type(c.out(0).dtype));
  }
  bool one_to_one() const override { return true; }
  void fill_stage(const Context& c, void* functor) const override {
    std::memcpy(functor, &c.param<Params>().all, sizeof(Functor));
  }
  void record_alone(gpu::Recorder& r) const override {
    bool by_frame = false;
    for (int i = 0; i < r.size(); i++) by_frame |= r[i].template param<Params>().frames != nullptr;
    if (by_frame) return record_frames(r);
    if (!r.size()) return;
    using Job = device::Pixels<uint8_t, uint8_t, N, Functor>;      // of any types the same fields
    record_pixels<Job>(r, PS_DEVICE_TEMPLATE(Pixels, uint8_t, uint8_t, N, Functor), [](const Context& c) {
      return Job{c.in(0).as<uint8_t>(), c.out(0).as<uint8_t>(), c.param<Params>().all};
    });
  }

 protected:
  PixelOperator(const Spec& s, const FunctorTemplate& functor) : dtype_(s.dtype("dtype")), functor_(functor) {}

  virtual Loop loop(DType in, DType out) const = 0;

  void begin_setup(const Context& c, const Layout& layout) const {
    const Tensor& in = c.in(0);
    Tensor& out = c.out(0);
    out.dtype = dtype_ == DType::none ? in.dtype : dtype_;
    out.shape = in.shape;
    out.layout = layout;
    visit_pixel(in.dtype, "the input", [](auto) {});
    visit_pixel(out.dtype, "the output", [](auto) {});
  }

  // Calls fill(frame, functor): for each frame where one of the arguments has values for frames, or once.
  template <class Fill>
  void set_functors(const Context& c, std::initializer_list<const FrameArg*> arguments, Fill fill) const {
    const Tensor& in = c.out(0);                     // of the input's shape, and its layout, guessed where it has none
    const int64_t frames = in.layout.axes[0] == 'F' ? in.shape[0] : -1;
    bool by_frame = false;
    for (const FrameArg* a : arguments) {
      if (!a->given()) continue;
      a->expect(c, 1, frames);
      by_frame |= a->frames(c) >= 0;
    }
    Params& p = c.param<Params>();
    p.frames = nullptr;
    if (!by_frame) return fill(0, p.all);
    auto* each = static_cast<Functor*>(c.lasting->take(size_t(std::max<int64_t>(frames, 1)) * sizeof(Functor)));
    for (int64_t f = 0; f < frames; f++) fill(f, each[f]);
    p.frames = each;
  }

 private:
  struct Params {
    Functor all;
    const Functor* frames;                           // each frame's own, or null
  };
  static constexpr Misfit kFramesDiffer = "an argument has a value for each frame";

  struct Stage : MapStage {
    Functor functor;
    Loop loop = nullptr;                             // over pixels of N elements each

    void map(const void* from, void* to, size_t pixels) override {
      loop(functor, from, to, pixels * size_t(out.channels) / N);
    }
  };
  struct ThreadState : State {
    Stage stage;
  };

  // A job for each sample: fields(context), of a functor of device/picture/pixels.h.
  template <class Job, class Fields>
  void record_pixels(gpu::Recorder& r, const TypeTemplate& kind, const Fields& fields) const {
    const DType in = r[0].in(0).dtype, out = r[0].out(0).dtype;
    const ::ps::Functor stage = functor_.of(gpu::cpp_type(out));
    const std::string types =
        gpu::cpp_type(in) + ", " + gpu::cpp_type(out) + ", " + std::to_string(N) + ", " + stage.type;
    r.elements({kind.of(types), stage.header, sizeof(Job), alignof(Job)}, [&](const Context& c, void* job) {
      const Job filled = fields(c);
      std::memcpy(job, &filled, sizeof filled);
      return c.in(0).shape.volume() / N;
    });
  }

  void record_frames(gpu::Recorder& r) const {
    std::vector<Functor> all;                        // each sample's, one behind the other
    std::vector<size_t> first;
    for (int i = 0; i < r.size(); i++) {
      const Params& p = r[i].template param<Params>();
      first.push_back(all.size());
      if (p.frames) all.insert(all.end(), p.frames, p.frames + r[i].in(0).shape[0]);
      else all.push_back(p.all);
    }
    if (all.empty()) return;
    const auto* there = static_cast<const Functor*>(r.constant(all.data(), all.size() * sizeof(Functor)));
    using Job = device::FramePixels<uint8_t, uint8_t, N, Functor>;
    record_pixels<Job>(r, PS_DEVICE_TEMPLATE(FramePixels, uint8_t, uint8_t, N, Functor), [&](const Context& c) {
      const Shape& s = c.in(0).shape;
      const int64_t frames = c.param<Params>().frames ? s[0] : 1, pixels = frames ? s.volume() / N / frames : 0;
      return Job{c.in(0).as<uint8_t>(), c.out(0).as<uint8_t>(), there + first[size_t(c.index)],
                 device::Divisor(uint64_t(std::max<int64_t>(pixels, 1)))};
    });
  }

  DType dtype_;
  FunctorTemplate functor_;
};

}  // namespace ps

