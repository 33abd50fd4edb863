// Ones with a given probability, zeros otherwise.
#pragma once

#include "kernels/random.h"

namespace ps {

class RandomCoinFlip : public RandomOperator {
 public:
  explicit RandomCoinFlip(const Spec& s) : RandomOperator(s, DType::i32), probability_(s.arg<double>("probability")) {}

  void run(const Context& c) const override {
    const double p = probability_.get_or(c, 0.5);
    fill(c, [&](Philox& random, auto tag) { return typename decltype(tag)::type(uniform32(random) < p); });
  }

 private:
  Arg<double> probability_;
};

PS_OPERATOR("random_coin_flip", RandomCoinFlip)

}  // namespace ps
