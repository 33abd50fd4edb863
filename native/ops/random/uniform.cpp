// Numbers from an interval, or from a list.
#include <cmath>
#include <vector>

#include "device/random/uniform.h"
#include "ops/random/operator.h"

namespace ps {

class RandomUniform : public DrawnOperator {
  auto from_range() const {
    return [this](const Context& c, auto tag) {
      using T = typename decltype(tag)::type;
      double r[2];
      range_.list(c, 2, r);
      if (!(r[0] < r[1]) || !std::isfinite(r[1] - r[0]))
        fail(ErrorKind::argument, "range=[" + std::to_string(r[0]) + ", " + std::to_string(r[1]) +
                                      "]: expected two numbers, the first one less than the second");
      if constexpr (!detail::is_real<T>)             // DALI draws between whole ends and rounds
        for (double& end : r) end = double(convert<T>(std::trunc(end)));
      return device::Uniform<T>{{}, r[0], r[1]};
    };
  }

 public:
  explicit RandomUniform(const Spec& s)
      : DrawnOperator(s), range_(s.arg<double>("range")), values_(s.arg<double>("values")) {}

  void run(const Context& c) const override {
    if (!values_.given()) return run_functor(c, from_range());
    const std::vector<double> values = list(c);
    run_functor(c, [&](const Context&, auto tag) { return of(tag, values.data(), values.size()); });
  }

  void record(gpu::Recorder& r) const override {
    if (!values_.given())
      return record_functor(r, PS_FUNCTOR_TEMPLATE(Uniform, "random/uniform.h", float), from_range());
    std::vector<double> all;                         // all samples' values, copied at once
    std::vector<size_t> first{0};
    for (int i = 0; i < r.size(); i++) {
      if (!i || values_.per_sample()) {
        const std::vector<double> values = list(r[i]);
        all.insert(all.end(), values.begin(), values.end());
      }
      first.push_back(all.size());
    }
    const auto* there = static_cast<const double*>(r.constant(all.data(), all.size() * sizeof(double)));
    record_functor(r, PS_FUNCTOR_TEMPLATE(UniformOf, "random/uniform.h", float), [&](const Context& c, auto tag) {
      const size_t i = values_.per_sample() ? size_t(c.index) : 0;
      return of(tag, there + first[i], first[i + 1] - first[i]);
    });
  }

 private:
  template <class Tag> static auto of(Tag, const double* values, size_t n) {
    return device::UniformOf<typename Tag::type>{{}, values, int64_t(n)};
  }

  std::vector<double> list(const Context& c) const {
    std::vector<double> values(static_cast<size_t>(values_.size(c)));
    if (values.empty()) fail(ErrorKind::argument, "values is empty: there is nothing to choose from");
    for (size_t i = 0; i < values.size(); i++) values[i] = values_.get(c, int64_t(i));
    return values;
  }

  Arg<double> range_, values_;
};

PS_OPERATOR("random_uniform", RandomUniform)

}  // namespace ps
