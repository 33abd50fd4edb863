// Sums, means, extremes and deviations over some or all axes.
#include "core/convert.h"
#include "core/converter.h"
#include "ops/arguments/axes.h"
#include "ops/tensor/reductions/gpu.h"
#include "ops/tensor/reductions/reduce.h"
#include "penstock.h"

namespace ps {

static_assert(int(device::Reduction::sum) == PS_REDUCTION_SUM && int(device::Reduction::mean) == PS_REDUCTION_MEAN &&
              int(device::Reduction::mean_square) == PS_REDUCTION_MEAN_SQUARE &&
              int(device::Reduction::rms) == PS_REDUCTION_RMS && int(device::Reduction::min) == PS_REDUCTION_MIN &&
              int(device::Reduction::max) == PS_REDUCTION_MAX &&
              int(device::Reduction::variance) == PS_REDUCTION_VARIANCE &&
              int(device::Reduction::std_dev) == PS_REDUCTION_STD_DEV);

class Reduce : public Operator, public GpuOperator {
 public:
  static constexpr Count kInputs{1, 2};
  explicit Reduce(const Spec& s)
      : reduction_(device::Reduction(s.integer("reduction"))), axes_(s), keep_dims_(s.flag("keep_dims")),
        dtype_(s.dtype("dtype")), ddof_(s.integer("ddof")) {}

  void setup(const Context& c) const override {
    const Tensor& in = c.in(0);
    Tensor& out = c.out(0);
    bool reduced[kMaxDims];
    axes_.mark(c, in, reduced);
    c.param<ReducedShape>() = ReducedShape(in.shape, reduced);
    out.dtype = dtype_ == DType::none ? default_type(in.dtype) : dtype_;
    out.shape = {};
    out.layout = {};
    for (int i = 0; i < in.shape.ndim; i++) {
      if (reduced[i] && !keep_dims_) continue;
      if (!in.layout.empty()) out.layout.axes[out.shape.ndim] = in.layout.axes[i];
      out.shape.push(reduced[i] ? 1 : in.shape[i]);
    }
    if (c.num_inputs > 1) check_mean(c, reduced);
  }

  void run(const Context& c) const override {
    const ReducedShape& shape = c.param<ReducedShape>();
    const double* mean = c.num_inputs > 1 ? means(c, shape) : nullptr;
    visit_fold(reduction_, [&](auto fold) {
      visit(c.in(0).dtype, [&](auto tag) {
        using Result = typename decltype(fold)::template Result<typename decltype(tag)::type>;
        auto* results = static_cast<Result*>(c.scratch->take(sizeof(Result) * size_t(shape.outputs)));
        fold.reduce(c.in(0).dtype, shape, *c.scratch, mean, c.in(0).data, results);
        finish(c, results);
      });
    });
  }

  void record(gpu::Recorder& r) const override {
    if (!r.size()) return;
    gpu::Reducing reducing(r, reduction_, r[0].in(0).dtype);
    for (int i = 0; i < r.size(); i++) {
      const Context& c = r[i];
      for (int k = 0; k < c.num_inputs; k++)
        if (c.in(k).dtype != r[0].in(k).dtype)
          fail(ErrorKind::type, "the samples of a batch on the GPU must have one type");
      gpu::Reducing::Sample sample{c.in(0).data, c.param<ReducedShape>(), nullptr, 0};
      if (c.num_inputs > 1) {
        sample.mean = c.in(1).data;
        sample.mean_step = c.in(1).shape.volume() > 1;
      }
      reducing.add(sample);
    }
    if (r[0].num_inputs > 1) reducing.record_pieces(gpu::cpp_type(r[0].in(1).dtype));
    else reducing.record_pieces();
    std::vector<void*> out;
    for (int i = 0; i < r.size(); i++) out.push_back(r[i].out(0).data);
    reducing.record_results(reduction_, r[0].out(0).dtype, ddof_, out);
  }

  size_t params_size() const override { return sizeof(ReducedShape); }

 private:
  DType default_type(DType in) const {
    using device::Reduction;
    if (reduction_ == Reduction::min || reduction_ == Reduction::max) return in;
    if (reduction_ != Reduction::sum || is_float(in)) return in == DType::f64 ? DType::f64 : DType::f32;
    const bool is_signed = in >= DType::i8 && in <= DType::i64;
    return is_signed ? DType::i64 : DType::u64;
  }

  template <class Result> void finish(const Context& c, const Result* results) const {
    const ReducedShape& shape = c.param<ReducedShape>();
    visit(c.out(0).dtype, [&](auto tag) {
      using Out = typename decltype(tag)::type;
      Out* out = c.out(0).as<Out>();
      for (int64_t i = 0; i < shape.outputs; i++)
        out[i] = device::finished<Out>(reduction_, results[i], shape.count, ddof_);
    });
  }

  // The second input: one mean for all, or one for each output, with the reduced axes or without them.
  static void check_mean(const Context& c, const bool* reduced) {
    const Shape &in = c.in(0).shape, &mean = c.in(1).shape;
    if (mean.volume() == 1) return;
    Shape kept, without;
    for (int i = 0; i < in.ndim; i++) {
      kept.push(reduced[i] ? 1 : in[i]);
      if (!reduced[i]) without.push(in[i]);
    }
    if (!(mean == kept) && !(mean == without))
      fail(ErrorKind::argument, "the mean's shape is " + to_string(mean) + "; expected one number, " +
                                    to_string(without) + " or " + to_string(kept));
  }
  static const double* means(const Context& c, const ReducedShape& shape) {
    auto* all = static_cast<double*>(c.scratch->take(sizeof(double) * size_t(shape.outputs)));
    const Tensor& mean = c.in(1);
    if (mean.shape.volume() == shape.outputs) converter(mean.dtype, DType::f64)(mean.data, all, size_t(shape.outputs));
    else std::fill_n(all, shape.outputs, element(mean, 0));
    return all;
  }

  device::Reduction reduction_;
  AxesArgument axes_;
  bool keep_dims_;
  DType dtype_;
  int64_t ddof_;
};

PS_OPERATOR("reductions", Reduce)

}  // namespace ps
