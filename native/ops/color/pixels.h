// What operators that change each pixel by itself have in common: on the CPU, stages of row pipelines; on the GPU,
// stages of fused kernels.
#pragma once

#include "device/picture/pixels.h"

#include <cstring>
#include <string>
#include <type_traits>

#include "core/convert.h"
#include "cuda/record/operator.h"
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
// the CPU too. N: how many elements must be seen together. Derived classes' setup() calls begin_setup(), and fills
// c.param<Functor>() in.
template <class Functor, int N> class PixelOperator : public RowOperator, public StageOperator {
 public:
  // n pixels of N elements.
  using Loop = void (*)(const Functor&, const void* from, void* to, size_t n);

  size_t params_size() const override { return sizeof(Functor); }
  std::unique_ptr<State> make_state() const override { return std::make_unique<ThreadState>(); }

  void run(const Context& c) const override {
    const Tensor &in = c.in(0), &out = c.out(0);
    loop(in.dtype, out.dtype)(c.param<Functor>(), in.data, out.data, size_t(in.shape.volume() / N));
  }

  Misfit rows_misfit(const Context& c) const override {
    const Shape& s = c.in(0).shape;
    if (s.ndim != 2 && s.ndim != 3) return misfit::no_picture;
    return s.volume() > 0 ? fits : misfit::no_pixels;
  }

  RowStage* begin(const Context& c) const override {
    Stage& stage = c.st<ThreadState>().stage;
    stage.in = format(c.in(0));
    stage.out = format(c.out(0));
    stage.functor = c.param<Functor>();
    stage.loop = loop(stage.in.dtype, stage.out.dtype);
    return &stage;
  }

  Misfit stage_misfit(const Context&) const override { return fits; }
  ::ps::Functor stage(const Context& c) const override {
    return functor_.of(gpu::cpp_type(c.out(0).dtype));
  }
  bool one_to_one() const override { return true; }
  void fill_stage(const Context& c, void* functor) const override {
    std::memcpy(functor, &c.param<Functor>(), sizeof(Functor));
  }
  void record_alone(gpu::Recorder& r) const override {
    if (!r.size()) return;
    using Job = device::Pixels<uint8_t, uint8_t, N, Functor>;      // of any types the same fields
    const DType in = r[0].in(0).dtype, out = r[0].out(0).dtype;
    const ::ps::Functor stage = functor_.of(gpu::cpp_type(out));
    const auto type = PS_DEVICE_TEMPLATE(Pixels, uint8_t, uint8_t, N, Functor);
    const std::string types =
        gpu::cpp_type(in) + ", " + gpu::cpp_type(out) + ", " + std::to_string(N) + ", " + stage.type;
    r.elements({type.of(types), stage.header, sizeof(Job), alignof(Job)}, [](const Context& c, void* job) {
      const Job filled{c.in(0).as<uint8_t>(), c.out(0).as<uint8_t>(), c.param<Functor>()};
      std::memcpy(job, &filled, sizeof filled);
      return c.in(0).shape.volume() / N;
    });
  }

 protected:
  PixelOperator(const Spec& s, const FunctorTemplate& functor) : dtype_(s.dtype("dtype")), functor_(functor) {}

  virtual Loop loop(DType in, DType out) const = 0;

  // Otherwise the first frame's value would count for all.
  static void refuse_frames(const Context& c, const Arg<float>& a, const char* name) {
    if (const Tensor* t = a.tensor(c); t && t->layout.axes[0] == 'F')
      fail(ErrorKind::unsupported, std::string(name) + " has a value for each frame: expected one for the sample");
  }

  void begin_setup(const Context& c, const Layout& layout) const {
    const Tensor& in = c.in(0);
    Tensor& out = c.out(0);
    out.dtype = dtype_ == DType::none ? in.dtype : dtype_;
    out.shape = in.shape;
    out.layout = layout;
    visit_pixel(in.dtype, "the input", [](auto) {});
    visit_pixel(out.dtype, "the output", [](auto) {});
  }

 private:
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

  DType dtype_;
  FunctorTemplate functor_;
};

}  // namespace ps

