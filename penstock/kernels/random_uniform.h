// Numbers from an interval, or from a list.
#pragma once

#include <cmath>

#include "kernels/random.h"

namespace ps {

class RandomUniform : public RandomOperator {
 public:
  explicit RandomUniform(const Spec& s)
      : RandomOperator(s, DType::f32), range_(s.arg<double>("range")), values_(s.arg<double>("values")) {}

  void run(const Context& c) const override {
    if (values_.given()) return choose(c);
    double r[2];
    range_.list(c, 2, r);
    if (!(r[0] < r[1]) || !std::isfinite(r[1] - r[0]))
      fail(ErrorKind::argument, "range=[" + std::to_string(r[0]) + ", " + std::to_string(r[1]) +
                                    "]: expected two numbers, the first one less than the second");
    fill(c, [&](Philox& random, auto tag) {
      using T = typename decltype(tag)::type;
      if constexpr (detail::is_real<T>) {
        const double u = std::is_same_v<T, double> ? random.uniform64() : uniform32(random);
        const T v = T(r[0] + (r[1] - r[0]) * u);
        return double(v) < r[1] ? v : T(r[0]);       // rounding can reach the end, which is not in the interval
      } else {                                       // DALI draws between whole ends and rounds
        const double low = double(convert<T>(std::trunc(r[0]))), high = double(convert<T>(std::trunc(r[1])));
        return convert<T>(low + (high - low) * random.uniform64());
      }
    });
  }

 private:
  void choose(const Context& c) const {
    const int64_t n = values_.size(c);
    if (n == 0) fail(ErrorKind::argument, "values is empty: there is nothing to choose from");
    fill(c, [&](Philox& random, auto tag) {
      return convert<typename decltype(tag)::type>(values_.get(c, int64_t(random.below(uint64_t(n)))));
    });
  }

  Arg<double> range_, values_;
};

PS_OPERATOR("random_uniform", RandomUniform)

}  // namespace ps
