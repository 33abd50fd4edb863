// Axes in another order.
#include "core/operator.h"
#include "ops/gather/gpu.h"
#include "ops/tensor/transpose/gpu.h"
#include "ops/tensor/transpose/host.h"

namespace ps {

class Transpose : public Operator, public GpuOperator {
 public:
  explicit Transpose(const Spec& s)
      : perm_(s.arg<int64_t>("perm")), transpose_layout_(s.flag("transpose_layout")),
        layout_given_(s.find("output_layout") != nullptr), layout_(s.string("output_layout")) {}

  void setup(const Context& c) const override {
    const Tensor& in = c.in(0);
    Tensor& out = c.out(0);
    int perm[kMaxDims];
    order(c, perm);
    out.dtype = in.dtype;
    out.shape = in.shape;
    out.layout = layout_given_ ? Layout(layout_) : in.layout;
    if (layout_given_ && int(layout_.size()) != in.shape.ndim && !layout_.empty())
      fail(ErrorKind::layout,
           "output_layout='" + layout_ + "' does not fit the input's shape " + to_string(in.shape));
    for (int i = 0; i < in.shape.ndim; i++) {
      out.shape[i] = in.shape[perm[i]];
      if (!layout_given_ && transpose_layout_ && !in.layout.empty()) out.layout.axes[i] = in.layout.axes[perm[i]];
    }
  }

  void run(const Context& c) const override {
    const Tensor& in = c.in(0);
    if (in.shape.volume() == 0) return;
    int perm[kMaxDims];
    order(c, perm);
    detail::transpose(in, perm, c.out(0).data);
  }

  void record(gpu::Recorder& r) const override {
    int perm[kMaxDims];
    std::vector<detail::Permutation> permutations;
    for (int i = 0; i < r.size(); i++) {
      order(r[i], perm);
      permutations.emplace_back(r[i].in(0).shape, perm, size_of(r[i].in(0).dtype));
    }
    if (detail::record_tiles(r, permutations)) return;
    gpu::record_moves(r, [&](const Context& c, Gather& gather) {
      order(c, perm);
      const Shape& in = c.in(0).shape;
      int64_t step[kMaxDims];
      auto next = int64_t(size_of(c.in(0).dtype));
      for (int i = in.ndim; i-- > 0; next *= in[i]) step[i] = next;
      for (int i = 0; i < in.ndim; i++) gather.add({in[perm[i]], 0, 1, in[perm[i]], step[perm[i]]});
      return c.in(0).data;
    });
  }

 private:
  void order(const Context& c, int* perm) const {
    const Shape& s = c.in(0).shape;
    if (perm_.given() && perm_.size(c) != s.ndim)
      fail(ErrorKind::argument,
           "perm has " + std::to_string(perm_.size(c)) + " elements, but the input's shape is " + to_string(s));
    for (int i = 0; i < s.ndim; i++) perm[i] = perm_.given() ? int(perm_.get(c, i)) : s.ndim - 1 - i;
  }

  Arg<int64_t> perm_;
  bool transpose_layout_, layout_given_;
  std::string layout_;
};

PS_OPERATOR("transpose", Transpose)

}  // namespace ps
