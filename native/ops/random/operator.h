// What all random operators share: the output's shape, and a loop that fills it.
#pragma once

#include <cstring>

#include "core/convert.h"
#include "cuda/record/operator.h"
#include "device/random/drawn.h"

namespace ps {

class RandomOperator : public Operator {
 public:
  static constexpr Count kInputs{0, 1};
  // `like` is the index of the input that may give the output's shape.
  RandomOperator(const Spec& s, DType dtype, int like = 0)
      : shape_(s.arg<int64_t>("shape")), dtype_(dtype), like_(like) {
    if (s.num_inputs > like && shape_.given())
      fail(ErrorKind::argument, "the shape is given twice: by an input and by the argument shape");
  }

  bool reads_elements(int input) const override { return input != like_; }

  void setup(const Context& c) const override {
    c.out(0).dtype = dtype_;
    c.out(0).shape = shape(c);
    c.out(0).layout = {};
  }

 protected:
  // A single number where no shape is given.
  Shape shape(const Context& c) const {
    if (c.num_inputs > like_) return c.in(like_).shape;
    Shape s;
    const int64_t n = shape_.size(c);
    if (n > kMaxDims)
      fail(ErrorKind::argument,
           "shape has " + std::to_string(n) + " elements; at most " + std::to_string(kMaxDims) + " can be");
    for (int64_t i = 0; i < n; i++) s.push(shape_.get(c, i));
    for (int i = 0; i < n; i++)
      if (s[i] < 0) fail(ErrorKind::argument, "shape=" + to_string(s) + " has a negative extent");
    return s;
  }

  // Fills the output with what draw(random, tag) gives, number after number.
  template <class Draw> static void fill(const Context& c, Draw draw) {
    Philox random = c.random();
    visit(c.out(0).dtype, [&](auto tag) {
      using T = typename decltype(tag)::type;
      T* to = c.out(0).as<T>();
      for (int64_t i = 0, n = c.out(0).shape.volume(); i < n; i++) to[i] = draw(random, tag);
    });
  }

  Arg<int64_t> shape_;
  DType dtype_;
  int like_;
};

// One whose numbers are drawn by functors over device/random/drawn.h, on the CPU as on the GPU.
class DrawnOperator : public RandomOperator, public GpuOperator {
 public:
  explicit DrawnOperator(const Spec& s) : RandomOperator(s, s.dtype("dtype")) {}

 protected:
  // make(c, tag) gives the functor for a sample, but for its `drawn`; `type` is its template.
  template <class Make> static void run_functor(const Context& c, Make make) {
    visit(c.out(0).dtype, [&](auto tag) {
      auto functor = make(c, tag);
      const int64_t blocks = complete(c, functor);
      for (int64_t b = 0; b < blocks; b++) functor.element(b);
    });
  }
  template <class Make> void record_functor(gpu::Recorder& r, const FunctorTemplate& type, Make make) const {
    visit(dtype_, [&](auto tag) {
      using F = decltype(make(r[0], tag));
      r.elements(type.of(gpu::cpp_type(dtype_)), [&](const Context& c, void* to) {
        F functor = make(c, tag);
        const int64_t blocks = complete(c, functor);
        std::memcpy(to, &functor, sizeof functor);
        return blocks;
      });
    });
  }

 private:
  template <class F> static int64_t complete(const Context& c, F& functor) {
    const Tensor& out = c.out(0);
    functor.drawn = {c.random().sequence(), out.data, out.shape.volume()};
    return (functor.drawn.count + F::kPer - 1) / F::kPer;
  }
};

}  // namespace ps
