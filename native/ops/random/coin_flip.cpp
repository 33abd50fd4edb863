// Ones with a given probability, zeros otherwise.
#include "device/random/coin_flip.h"
#include "ops/random/operator.h"

namespace ps {

class RandomCoinFlip : public DrawnOperator {
  auto maker() const {
    return [this](const Context& c, auto tag) {
      return device::CoinFlip<typename decltype(tag)::type>{{}, probability_.get(c)};
    };
  }

 public:
  explicit RandomCoinFlip(const Spec& s) : DrawnOperator(s), probability_(s.arg<double>("probability")) {}

  void run(const Context& c) const override { run_functor(c, maker()); }
  void record(gpu::Recorder& r) const override {
    record_functor(r, PS_FUNCTOR_TEMPLATE(CoinFlip, "random/coin_flip.h", float), maker());
  }

 private:
  Arg<double> probability_;
};

PS_OPERATOR("random_coin_flip", RandomCoinFlip)

}  // namespace ps
