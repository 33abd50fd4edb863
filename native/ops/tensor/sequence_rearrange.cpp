// The elements along the first axis in another order.
#include <string>
#include <vector>

#include "cuda/record/operator.h"
#include "ops/tensor/copy_blocks.h"

namespace ps {

class SequenceRearrange : public Operator, public GpuOperator {
 public:
  explicit SequenceRearrange(const Spec& s) : order_(s.arg<int64_t>("new_order")) {}

  void setup(const Context& c) const override {
    const Tensor& in = c.in(0);
    if (in.shape.ndim == 0) fail(ErrorKind::layout, "the input is a single number; expected a sequence");
    if (!in.layout.empty() && in.layout.axes[0] != 'F')
      fail(ErrorKind::layout, std::string("the input's layout is '") + in.layout.axes +
                                  "'; expected a sequence, whose layout begins with 'F'");
    if (const Tensor* t = order_.tensor(c); t && t->shape.ndim != 1)
      fail(ErrorKind::argument, "new_order is of shape " + to_string(t->shape) + "; expected one axis");
    const int64_t n = order_.size(c);
    if (n == 0) fail(ErrorKind::argument, "new_order is empty; expected one number or more");
    for (int64_t i = 0; i < n; i++)
      if (const int64_t from = order_.get(c, i); from < 0 || from >= in.shape[0])
        fail(ErrorKind::axis, "new_order has " + std::to_string(from) + ", but the input " + to_string(in.shape) +
                                  " has elements 0 to " + std::to_string(in.shape[0] - 1));
    Tensor& out = c.out(0);
    out.dtype = in.dtype;
    out.shape = in.shape;
    out.shape[0] = n;
    out.layout = in.layout;
  }

  void run(const Context& c) const override {
    for (int64_t i = 0, n = c.out(0).shape[0]; i < n; i++) copy_blocks(element(c, i));
  }

  void record(gpu::Recorder& r) const override {
    std::vector<BlockCopy> copies;
    for (int k = 0; k < r.size(); k++)
      for (int64_t i = 0, n = r[k].out(0).shape[0]; i < n; i++) copies.push_back(element(r[k], i));
    gpu::record_copies(r, copies);
  }

 private:
  BlockCopy element(const Context& c, int64_t i) const {
    const auto bytes = int64_t(c.out(0).bytes()) / c.out(0).shape[0];
    return {c.in(0).as<uint8_t>() + order_.get(c, i) * bytes, c.out(0).as<uint8_t>() + i * bytes, bytes, bytes, 1};
  }

  Arg<int64_t> order_;
};

PS_OPERATOR("sequence_rearrange", SequenceRearrange)

}  // namespace ps
