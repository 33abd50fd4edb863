// Numbers of a normal distribution.
#pragma once

#include "kernels/random.h"

namespace ps {

class RandomNormal : public RandomOperator {
 public:
  explicit RandomNormal(const Spec& s)
      : RandomOperator(s, DType::f32), mean_(s.arg<double>("mean")), stddev_(s.arg<double>("stddev")) {}

  void run(const Context& c) const override {
    const double mean = mean_.get_or(c, 0), stddev = stddev_.get_or(c, 1);
    fill(c, [&](Philox& random, auto tag) {
      return convert<typename decltype(tag)::type>(mean + stddev * random.normal());
    });
  }

 private:
  Arg<double> mean_, stddev_;
};

PS_OPERATOR("random_normal", RandomNormal)

}  // namespace ps
