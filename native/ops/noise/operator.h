// What operators that add noise have in common: on the CPU, stages of row pipelines; on the GPU, stages of fused
// kernels. Which numbers an element gets depends on its place in the input, so both say where they are.
#pragma once

#include <cstring>
#include <type_traits>

#include "core/convert.h"
#include "cuda/record/operator.h"
#include "cuda/record/picture.h"
#include "device/noise/noise.h"

namespace ps {
namespace misfit {
inline constexpr Misfit frames_differ = "each frame has noise of its own";
}

// `Functor` is the stage functor of the GPU, of any type. Derived classes fill in what it has besides NoiseFields.
template <class Functor> class NoiseOperator : public RowOperator, public StageOperator {
 public:
  // n elements, from number `first` of the input on.
  using Loop = void (*)(const Functor&, const void* from, void* to, int64_t first, int64_t n);

  size_t params_size() const override { return sizeof(Functor); }
  std::unique_ptr<State> make_state() const override { return std::make_unique<ThreadState>(); }

  void setup(const Context& c) const override {
    const Tensor& in = c.in(0);
    Tensor& out = c.out(0);
    if (in.dtype == DType::boolean || size_of(in.dtype) == 0)
      fail(ErrorKind::type, std::string("the input is ") + name_of(in.dtype) + ": expected numbers");
    out.dtype = in.dtype;
    out.shape = in.shape;
    out.layout = in.layout;
    Functor& f = c.param<Functor>();
    f = {};
    f.random = c.random().sequence();
    if (const auto p = gpu::pictures_of(in)) f.stride = p->stride;
    fill(c, f);
  }

  void run(const Context& c) const override {
    const Tensor& in = c.in(0);
    loop(in.dtype)(c.param<Functor>(), in.data, c.out(0).data, 0, in.shape.volume());
  }

  Misfit rows_misfit(const Context& c) const override {
    const Shape& s = c.in(0).shape;
    if (s.ndim != 2 && s.ndim != 3) return misfit::no_picture;
    return s.volume() > 0 ? fits : misfit::no_pixels;
  }
  RowStage* begin(const Context& c) const override {
    Stage& stage = c.st<ThreadState>().stage;
    stage.in = stage.out = format(c.in(0));
    stage.functor = c.param<Functor>();
    stage.loop = loop(stage.in.dtype);
    return &stage;
  }

  Misfit stage_misfit(const Context& c) const override {
    const auto p = gpu::pictures_of(c.in(0));
    if (!p) return misfit::no_pictures;
    return p->frames > 1 ? misfit::frames_differ : fits;
  }
  ::ps::Functor stage(const Context& c) const override { return functor_.of(gpu::cpp_type(c.in(0).dtype)); }
  bool one_to_one() const override { return true; }
  void fill_stage(const Context& c, void* functor) const override {
    std::memcpy(functor, &c.param<Functor>(), sizeof(Functor));
  }
  void record_alone(gpu::Recorder& r) const override {
    if (!r.size()) return;
    using Job = device::Noisy<uint8_t, Functor>;         // of any types the same fields
    const ::ps::Functor noise = stage(r[0]);
    const std::string types = gpu::cpp_type(r[0].in(0).dtype) + ", " + noise.type;
    r.elements({PS_DEVICE_TEMPLATE(Noisy, uint8_t, Functor).of(types), noise.header, sizeof(Job), alignof(Job)},
               [](const Context& c, void* job) {
                 const Job filled{c.in(0).as<uint8_t>(), c.out(0).as<uint8_t>(), c.param<Functor>()};
                 std::memcpy(job, &filled, sizeof filled);
                 return c.in(0).shape.volume();
               });
  }

 protected:
  explicit NoiseOperator(const FunctorTemplate& functor) : functor_(functor) {}

  virtual void fill(const Context& c, Functor& f) const = 0;
  virtual Loop loop(DType t) const = 0;

  // Calls f(tag) for the types that it is for.
  template <class F> static decltype(auto) visit_numbers(DType t, F&& f) {
    return visit(t, [&](auto tag) -> Loop {
      if constexpr (std::is_same_v<typename decltype(tag)::type, bool>) return nullptr;
      else return f(tag);
    });
  }

 private:
  struct Stage : RowStage {
    Functor functor;
    Loop loop = nullptr;

    Window demand(const Window& w) override {
      window_ = w;
      const size_t bytes = size_t(w.width()) * out.pixel_bytes() + kRowSlack;
      if (row_.size() < bytes) row_.resize(bytes);
      return w;
    }
    void push(int64_t y, const void* from) override {
      void* to = next->place(y);
      if (!to) to = row_.data();
      loop(functor, from, to, (y * out.width + window_.x0) * out.channels, window_.width() * out.channels);
      next->push(y, to);
    }

   private:
    Window window_;
    std::vector<uint8_t> row_;
  };
  struct ThreadState : State {
    Stage stage;
  };

  FunctorTemplate functor_;
};

// Blocks of random bits, several at a time, which compilers do side by side: words[w][j] is word w of block
// `first` + j.
inline constexpr int kNoiseBlocks = 16, kNoiseWords = 4 * kNoiseBlocks;

inline void noise_blocks(const device::PhiloxSequence& random, uint32_t first, uint32_t (&words)[4][kNoiseBlocks]) {
  const device::PhiloxSequence sequence = random;
  for (uint32_t j = 0; j < kNoiseBlocks; j++) {
    const device::PhiloxWords block = sequence.block(first + j);
    for (int w = 0; w < 4; w++) words[w][j] = block.w[w];
  }
}

// Calls draw(block, numbers), which makes kNoiseWords random numbers of the blocks from that one on, and use(number,
// element, n) for n elements that have them, until elements first to first + n - 1 have theirs.
template <class Number, class Draw, class Use> void with_numbers(int64_t first, int64_t n, Draw draw, Use use) {
  Number numbers[kNoiseWords];
  for (int64_t i = first, end = first + n; i < end;) {
    const int64_t block = i / 4, skipped = i - 4 * block;
    const int64_t count = std::min(end - i, kNoiseWords - skipped);
    draw(uint32_t(block), numbers);
    use(numbers + skipped, i - first, count);
    i += count;
  }
}

}  // namespace ps
