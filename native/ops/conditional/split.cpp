// Samples that take one branch or the other. The engine hands the input's memory on, to the output that a sample has.
#include "ops/conditional/predicate.h"

namespace ps {

class Split : public Operator {
 public:
  static constexpr Count kOutputs{2, 2};
  explicit Split(const Spec& s) : predicate_(s) {}

  void setup(const Context& c) const override {
    predicate_.check(c);
    for (int k = 0; k < 2; k++) c.out(k) = {nullptr, c.in(0).dtype, c.in(0).shape, c.in(0).layout, c.in(0).source};
  }

  void run(const Context&) const override {}

 private:
  Predicate predicate_;
};

PS_OPERATOR("split", Split)

}  // namespace ps
