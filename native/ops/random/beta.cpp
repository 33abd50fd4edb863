// Numbers of a beta distribution: X / (X + Y); for small parameters by logarithms, since X and Y would underflow.
#include <cmath>

#include "ops/random/operator.h"

namespace ps {

class RandomBeta : public RandomOperator {
 public:
  explicit RandomBeta(const Spec& s)
      : RandomOperator(s, s.dtype("dtype")), alpha_(s.arg<double>("alpha")), beta_(s.arg<double>("beta")) {}

  void run(const Context& c) const override {
    const double alpha = positive("alpha", alpha_.get(c)), beta = positive("beta", beta_.get(c));
    fill(c, [&](Philox& random, auto tag) {
      const bool small = alpha < 1 && beta < 1;
      const double drawn = small ? by_powers(random, alpha, beta) : by_gammas(random, alpha, beta);
      return convert<typename decltype(tag)::type>(drawn);
    });
  }

 private:
  static double positive(const char* name, double v) {
    if (!(v > 0) || !std::isfinite(v))
      fail(ErrorKind::argument, std::string(name) + "=" + std::to_string(v) + ": expected a number above 0");
    return v;
  }

  // X and Y are powers of uniform numbers, taken where they add up to at most 1: Jöhnk, "Erzeugung von betaverteilten
  // und gammaverteilten Zufallszahlen" (Metrika 8, 1964).
  static double by_powers(Philox& random, double alpha, double beta) {
    while (true) {
      const double x = std::log(1 - random.uniform64()) / alpha, y = std::log(1 - random.uniform64()) / beta;
      if (std::exp(x) + std::exp(y) <= 1) return 1 / (1 + std::exp(y - x));
    }
  }

  static double by_gammas(Philox& random, double alpha, double beta) {
    if (alpha >= 1 && beta >= 1) {
      const double x = gamma(random, alpha);
      return x / (x + gamma(random, beta));
    }
    const double x = log_gamma(random, alpha);
    return 1 / (1 + std::exp(log_gamma(random, beta) - x));
  }

  static double log_gamma(Philox& random, double shape) {
    if (shape < 1) {
      const double boosted = log_gamma(random, shape + 1);
      return boosted + std::log(1 - random.uniform64()) / shape;
    }
    return std::log(gamma(random, shape));
  }

  // For shapes of at least 1: Marsaglia and Tsang, "A Simple Method for Generating Gamma Variables" (ACM TOMS 26,
  // 2000).
  static double gamma(Philox& random, double shape) {
    const double d = shape - 1.0 / 3, k = 1 / std::sqrt(9 * d);
    while (true) {
      const double x = random.normal(), s = k * x, t = 1 + s, v = t * t * t;
      if (v <= 0) continue;
      const double u = 1 - random.uniform64(), square = x * x;
      if (u < 1 - 0.0331 * square * square) return d * v;          // most are taken without a logarithm
      // With 9 d s^2 = x^2 the sum below is 3 d (log(1 + s) - s + s^2/2 - s^3/3), of whose digits none are left where d
      // is large and s small. Then the next term of the series is all there is.
      const bool exact = std::fabs(s) > 1e-3;
      const double log_ratio = exact ? 0.5 * square + d - d * v + d * std::log(v) : -0.75 * d * s * s * s * s;
      if (std::log(u) < log_ratio) return d * v;
    }
  }

  Arg<double> alpha_, beta_;
};

PS_OPERATOR("random_beta", RandomBeta)

}  // namespace ps
