// Samples of two branches as one batch. They are copied, so that those of the batch lie one behind the other.
#include <cstring>

#include "cuda/record/elementwise.h"
#include "device/tensor/functions.h"
#include "ops/conditional/predicate.h"

namespace ps {

class Merge : public Operator, public GpuOperator {
 public:
  static constexpr Count kInputs{2, 2};
  explicit Merge(const Spec& s) : predicate_(s) {}

  void setup(const Context& c) const override {
    predicate_.check(c);
    const Tensor& in = chosen(c);
    c.out(0) = {nullptr, in.dtype, in.shape, in.layout, in.source};
  }

  void run(const Context& c) const override {
    const Tensor& out = c.out(0);
    if (out.bytes()) std::memcpy(out.data, chosen(c).data, out.bytes());
  }

  void record(gpu::Recorder& r) const override {
    gpu::record_elementwise(r, [this](const Context& c) {
      const Tensor& in = chosen(c);
      return gpu::ElementwiseCall{PS_DEVICE_TYPE(Same), 1, {{&in, false, in.dtype}}};
    });
  }

 private:
  const Tensor& chosen(const Context& c) const { return c.in(predicate_.get(c) ? 0 : 1); }

  Predicate predicate_;
};

PS_OPERATOR("merge", Merge)

}  // namespace ps
