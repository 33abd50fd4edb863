// Some of the elements along the first axis, each as an output.
#include <vector>

#include "cuda/record/operator.h"
#include "ops/tensor/copy_blocks.h"

namespace ps {

class ElementExtract : public Operator, public GpuOperator {
 public:
  static constexpr Count kOutputs{1, kMany};
  explicit ElementExtract(const Spec& s) : which_(s.arg<int64_t>("element_map")) {}

  void setup(const Context& c) const override {
    const Tensor& in = c.in(0);
    if (in.shape.ndim == 0) fail(ErrorKind::layout, "the input is a single number; expected a sequence");
    if (!in.layout.empty() && in.layout.axes[0] != 'F')
      fail(ErrorKind::layout, std::string("the input's layout is '") + in.layout.axes +
                                  "'; expected a sequence, whose layout begins with 'F'");
    for (int k = 0; k < c.num_outputs; k++) {
      const int64_t i = which_.get(c, k);
      if (i < 0 || i >= in.shape[0])
        fail(ErrorKind::axis, "element_map has " + std::to_string(i) + ", but the input " + to_string(in.shape) +
                                  " has elements 0 to " + std::to_string(in.shape[0] - 1));
      Tensor& out = c.out(k);
      out.dtype = in.dtype;
      out.shape = {};
      for (int axis = 1; axis < in.shape.ndim; axis++) out.shape.push(in.shape[axis]);
      out.layout = in.layout.empty() ? Layout() : Layout(in.layout.view().substr(1));
    }
  }

  void run(const Context& c) const override {
    for (int k = 0; k < c.num_outputs; k++) copy_blocks(element(c, k));
  }

  void record(gpu::Recorder& r) const override {
    std::vector<BlockCopy> copies;
    for (int i = 0; i < r.size(); i++)
      for (int k = 0; k < r[i].num_outputs; k++) copies.push_back(element(r[i], k));
    gpu::record_copies(r, copies);
  }

 private:
  BlockCopy element(const Context& c, int k) const {
    const auto bytes = int64_t(c.out(k).bytes());
    return {c.in(0).as<uint8_t>() + which_.get(c, k) * bytes, c.out(k).as<uint8_t>(), bytes, bytes, 1};
  }

  Arg<int64_t> which_;
};

PS_OPERATOR("element_extract", ElementExtract)

}  // namespace ps
