// Rows of a tensor, or numbers below n, each drawn anew.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "ops/random/operator.h"

namespace ps {

class RandomChoice : public RandomOperator {
 public:
  static constexpr Count kInputs{1, 2};
  explicit RandomChoice(const Spec& s) : RandomOperator(s, DType::none, 1), p_(s.arg<double>("p")) {}

  void setup(const Context& c) const override {
    const Tensor& from = c.in(0);
    Tensor& out = c.out(0);
    const bool numbers = from.shape.ndim == 0;
    if (numbers && !(from.dtype >= DType::u8 && from.dtype <= DType::i64))
      fail(ErrorKind::type,
           std::string("the input is one ") + name_of(from.dtype) + "; expected a whole number, or a list");
    out.dtype = from.dtype;
    out.shape = shape(c);
    const int drawn = out.shape.ndim;
    for (int i = 1; i < from.shape.ndim; i++) {
      if (out.shape.ndim == kMaxDims) fail(ErrorKind::argument, "the output has too many axes");
      out.shape.push(from.shape[i]);
    }
    out.layout = {};
    if (!numbers && drawn == 1) out.layout = from.layout;
    if (!numbers && drawn == 0 && !from.layout.empty()) out.layout = from.layout.view().substr(1);
  }

  void run(const Context& c) const override {
    const Tensor& from = c.in(0);
    const bool numbers = from.shape.ndim == 0;
    const int64_t n = numbers ? element_i64(from, 0) : from.shape[0];
    if (n <= 0) fail(ErrorKind::argument, "expected at least 1 element to choose from, got " + std::to_string(n));
    const double* sums = p_.given() ? cumulated(c, n) : nullptr;
    const int64_t row = numbers ? 1 : from.shape.volume() / n;
    const int64_t count = row ? c.out(0).shape.volume() / row : 0;
    Philox random = c.random();
    const size_t bytes = size_t(row) * size_of(from.dtype);
    for (int64_t i = 0; i < count; i++) {
      const int64_t k = draw(random, sums, n);
      uint8_t* to = c.out(0).as<uint8_t>() + size_t(i) * bytes;
      if (numbers) std::memcpy(to, &k, bytes);       // an integer's low bytes: k is within its type's range
      else std::memcpy(to, from.as<uint8_t>() + size_t(k) * bytes, bytes);
    }
  }

 private:
  static int64_t draw(Philox& random, const double* sums, int64_t n) {
    if (!sums) return int64_t(random.below(uint64_t(n)));
    // The sums may end a little off 1, so the draw is scaled to them; and what has probability 0 is never drawn.
    const double u = random.uniform64() * sums[n - 1];
    return std::min<int64_t>(std::upper_bound(sums, sums + n, u) - sums, n - 1);
  }

  const double* cumulated(const Context& c, int64_t n) const {
    const int64_t given = p_.size(c);                // one number is the probability of each
    if (given != n && given != 1)
      fail(ErrorKind::argument,
           "p has " + std::to_string(given) + " probabilities for " + std::to_string(n) + " elements");
    double* sums = static_cast<double*>(c.scratch->take(size_t(n) * sizeof(double)));
    double sum = 0;
    for (int64_t i = 0; i < n; i++) {
      const double p = p_.get(c, given == 1 ? 0 : i);
      if (!(p >= 0 && p <= 1))
        fail(ErrorKind::argument, "p[" + std::to_string(i) + "]=" + std::to_string(p) + ": expected 0 to 1");
      sums[i] = sum += p;
    }
    if (std::fabs(sum - 1) > 1e-4)
      fail(ErrorKind::argument, "the probabilities p add up to " + std::to_string(sum) + ", not to 1");
    return sums;
  }

  Arg<double> p_;
};

PS_OPERATOR("random_choice", RandomChoice)

}  // namespace ps
