// Numbers of a normal distribution.
#include "device/random/normal.h"
#include "ops/random/operator.h"

namespace ps {

class RandomNormal : public DrawnOperator {
  auto maker() const {
    return [this](const Context& c, auto tag) {
      return device::Normal<typename decltype(tag)::type>{{}, mean_.get(c), stddev_.get(c)};
    };
  }

 public:
  explicit RandomNormal(const Spec& s)
      : DrawnOperator(s), mean_(s.arg<double>("mean")), stddev_(s.arg<double>("stddev")) {}

  void run(const Context& c) const override { run_functor(c, maker()); }
  void record(gpu::Recorder& r) const override {
    record_functor(r, PS_FUNCTOR_TEMPLATE(Normal, "random/normal.h", float), maker());
  }

 private:
  Arg<double> mean_, stddev_;
};

PS_OPERATOR("random_normal", RandomNormal)

}  // namespace ps
