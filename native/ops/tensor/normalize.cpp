// Elements normalized by means and standard deviations, given or computed over axes of a sample or of the whole batch.
#include <algorithm>
#include <optional>

#include "core/converter.h"
#include "ops/arguments/axes.h"
#include "ops/tensor/normalize/gpu.h"
#include "ops/tensor/normalize/rows.h"

namespace ps {

class Normalize : public Operator, public GpuOperator {
 public:
  explicit Normalize(const Spec& s)
      : axes_(s), batch_(s.flag("batch")), on_gpu_(s.device == "gpu"), dtype_(s.dtype("dtype")),
        mean_(s, "mean"), stddev_(s, "stddev"),
        how_{s.number("scale"), s.number("shift"), s.number("epsilon"), s.integer("ddof")} {}

  void setup(const Context& c) const override {
    const Tensor& in = c.in(0);
    c.out(0).dtype = dtype_;
    c.out(0).shape = in.shape;
    c.out(0).layout = in.layout;
    converter(in.dtype, dtype_);                     // both must be numbers
    bool reduced[kMaxDims];
    find_axes(c, reduced);
    for (const Given* given : {&mean_, &stddev_}) given->check(c, reduced);
    Params& p = c.param<Params>();
    p.shape = ReducedShape(in.shape, reduced);
    if (!batch_) return;
    check_batch(c, reduced);
    if (!on_gpu_) p.statistics = statistics(c, p.shape, false, *c.lasting);
  }

  void run(const Context& c) const override {
    const ReducedShape& shape = c.param<Params>().shape;
    int64_t count = shape.count;
    const Statistics found = batch_ ? of_batch(c, count) : statistics(c, shape, true, *c.scratch);
    auto* terms = static_cast<device::NormalizeTerms*>(
        c.scratch->take(sizeof(device::NormalizeTerms) * size_t(shape.outputs)));
    for (int64_t i = 0; i < shape.outputs; i++)
      terms[i] = how_.terms(found.mean[i], found.spread[i], stddev_.given(), count);
    visit(c.in(0).dtype, [&](auto tag) {
      using T = typename decltype(tag)::type;
      detail::Normalizer<T>(shape, c.out(0), *c.scratch)(c.in(0).as<T>(), terms);
    });
  }

  void record(gpu::Recorder& r) const override {
    if (!r.size()) return;
    std::vector<gpu::NormalizeSample> samples;
    for (int i = 0; i < r.size(); i++) {
      if (r[i].in(0).dtype != r[0].in(0).dtype)
        fail(ErrorKind::type, "the samples of a batch on the GPU must have one type");
      const ReducedShape& shape = r[i].param<Params>().shape;
      samples.push_back({r[i].in(0), r[i].out(0), shape, mean_.list(r[i], shape), stddev_.list(r[i], shape)});
    }
    gpu::record_normalize(r, samples, how_, batch_);
  }

  size_t params_size() const override { return sizeof(Params); }

 private:
  // `spread` is the standard deviation where that is given, else the sum of squared deviations.
  struct Statistics {
    const double *mean = nullptr, *spread = nullptr;
  };
  struct Params {
    ReducedShape shape;
    Statistics statistics;             // of the sample; for the batch's
  };

  // The arguments `mean` and `stddev`: a number, or an array that has the input's axes but 1 on those that are reduced.
  class Given {
   public:
    Given(const Spec& s, const std::string& name)
        : name_(name), values_(s.arg<double>(name)), shape_(s.arg<int64_t>(name + "_shape")) {
      if (const ArgValue* v = s.find(name)) input_ = v->input;
    }
    bool given() const { return values_.given(); }
    bool is_array(const Context& c) const { return given() && values_.size(c) != 1; }
    Shape shape(const Context& c) const {
      if (input_ >= 0) return c.args[input_]->shape;
      Shape s;
      for (int64_t i = 0; i < shape_.size(c); i++) s.push(shape_.get(c, i));
      return s;
    }
    void check(const Context& c, const bool* reduced) const {
      if (!is_array(c)) return;
      const Shape& in = c.in(0).shape;
      Shape expected;
      for (int i = 0; i < in.ndim; i++) expected.push(reduced[i] ? 1 : in[i]);
      if (!(shape(c) == expected))
        fail(ErrorKind::argument, name_ + " has the shape " + to_string(shape(c)) + "; expected " +
                                      to_string(expected) + ", or one number");
    }
    std::vector<double> list(const Context& c, const ReducedShape& shape) const {
      std::vector<double> all;
      if (!given()) return all;
      all.resize(size_t(is_array(c) ? shape.outputs : 1));
      for (size_t i = 0; i < all.size(); i++) all[i] = values_.get(c, int64_t(i));
      return all;
    }
    // One for each output.
    void fill(const Context& c, const ReducedShape& shape, double* to) const {
      for (int64_t i = 0; i < shape.outputs; i++) to[i] = values_.get(c, is_array(c) ? i : 0);
    }

   private:
    std::string name_;
    Arg<double> values_;
    Arg<int64_t> shape_;
    int input_ = -1;
  };

  // Where no axes are given, those on which an array has one element.
  void find_axes(const Context& c, bool* reduced) const {
    axes_.mark(c, c.in(0), reduced);
    if (axes_.given()) return;
    for (const Given* given : {&mean_, &stddev_}) {
      if (!given->is_array(c)) continue;
      const Shape shape = given->shape(c);
      for (int i = 0; i < c.in(0).shape.ndim; i++) reduced[i] = i < shape.ndim && shape[i] == 1;
      return;
    }
  }

  void check_batch(const Context& c, const bool* reduced) const {
    const Shape &mine = c.in(0).shape, &first = c.in(0, 0).shape;
    bool same = mine.ndim == first.ndim;
    for (int i = 0; same && i < mine.ndim; i++) same = reduced[i] || mine[i] == first[i];
    if (!same)
      fail(ErrorKind::argument, "batch=True: the shape " + to_string(mine) + " differs from that of the first " +
                                    "sample, " + to_string(first) + ", in an axis that is not reduced");
    if (c.in(0).dtype != c.in(0, 0).dtype) fail(ErrorKind::type, "batch=True: the samples have different types");
  }

  // Of one sample. The spread is about what is given as the mean only where that is `final`: deviations about the
  // batch's mean follow from those about the sample's own.
  Statistics statistics(const Context& c, const ReducedShape& shape, bool final, Arena& memory) const {
    auto* all = static_cast<double*>(memory.take(2 * sizeof(double) * size_t(shape.outputs)));
    double *mean = all, *spread = all + shape.outputs;
    const bool own_mean = !mean_.given() || (!final && !stddev_.given());
    const Tensor& in = c.in(0);
    if (own_mean) {
      visit(in.dtype, [&](auto tag) {
        using Sum = typename device::SumFold<typename decltype(tag)::type>::Result;
        auto* sums = static_cast<Sum*>(c.scratch->take(sizeof(Sum) * size_t(shape.outputs)));
        reduce<device::SumFold>(in.dtype, shape, *c.scratch, nullptr, in.data, sums);
        for (int64_t i = 0; i < shape.outputs; i++) mean[i] = double(sums[i]) / double(shape.count);
      });
    } else {
      mean_.fill(c, shape, mean);
    }
    if (stddev_.given()) stddev_.fill(c, shape, spread);
    else reduce<device::DeviationFold>(in.dtype, shape, *c.scratch, mean, in.data, spread);
    return {mean, spread};
  }

  // Joins what setup() has found for each sample, in their order; `count` becomes the number of elements.
  Statistics of_batch(const Context& c, int64_t& count) const {
    const int64_t n = c.param<Params>().shape.outputs;
    auto* all = static_cast<double*>(c.scratch->take(2 * sizeof(double) * size_t(n)));
    double *mean = all, *spread = all + n;
    count = 0;
    std::fill_n(all, 2 * n, 0.0);
    const auto each = [&](auto f) {
      for (int s = 0; s < c.batch; s++) {
        const Params& p = c.param<Params>(s);
        for (int64_t i = 0; p.shape.count > 0 && i < n; i++)
          f(i, double(p.shape.count), p.statistics.mean[i], p.statistics.spread[i]);
      }
    };
    for (int s = 0; s < c.batch; s++) count += c.param<Params>(s).shape.count;
    if (mean_.given()) {
      mean_.fill(c, c.param<Params>().shape, mean);
    } else {
      each([&](int64_t i, double m, double own, double) { mean[i] += own * m; });
      for (int64_t i = 0; i < n; i++) mean[i] /= double(count);
    }
    if (stddev_.given()) stddev_.fill(c, c.param<Params>().shape, spread);
    else each([&](int64_t i, double m, double own, double squares) {
      spread[i] += squares + m * (own - mean[i]) * (own - mean[i]);
    });
    return {mean, spread};
  }

  AxesArgument axes_;
  bool batch_, on_gpu_;
  DType dtype_;
  Given mean_, stddev_;
  device::Normalization how_;
};

PS_OPERATOR("normalize", Normalize)

}  // namespace ps
