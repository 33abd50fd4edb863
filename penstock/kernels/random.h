// What all random operators share: the output's shape, and a loop that fills it.
#pragma once

#include "core/convert.h"
#include "core/operator.h"

namespace ps {

class RandomOperator : public Operator {
 public:
  // `like` is the number of the input that may tell the output's shape.
  RandomOperator(const Spec& s, DType fallback, int like = 0)
      : shape_(s.arg<int64_t>("shape")), dtype_(s.dtype("dtype", fallback)), like_(like) {
    if (s.num_inputs > like && shape_.given())
      fail(ErrorKind::argument, "the shape is given twice: by an input and by the argument shape");
  }

  void setup(const Context& c) const override {
    c.out(0).dtype = dtype_;
    c.out(0).shape = shape(c);
    c.out(0).layout = {};
  }

 protected:
  // A number where nothing tells a shape.
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

  // Fills the output with what draw(random, tag) gives.
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

// Uniform in [0, 1), with 32 bits: more than a float holds, except next to 0.
inline double uniform32(Philox& random) { return double(random.next()) * 0x1p-32; }

}  // namespace ps
