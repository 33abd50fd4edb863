// Recording normalization: what is not given is reduced from the input, then there are two kernels over elements.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "device/tensor/normalize.h"
#include "ops/tensor/reductions/gpu.h"

namespace ps::gpu {

struct NormalizeSample {
  const Tensor& in;
  const Tensor& out;
  ReducedShape shape;
  std::vector<double> mean, stddev;    // one, or one for each output; empty: not given
};

namespace detail {

// Numbers for each sample's outputs, in device memory.
struct Numbers {
  std::vector<const double*> of;
  std::vector<int64_t> step;           // 0: all outputs of a sample share one
};

inline Numbers uploaded(Recorder& r, const std::vector<NormalizeSample>& samples,
                        const std::vector<double> NormalizeSample::* list) {
  std::vector<double> all;
  for (const NormalizeSample& s : samples) all.insert(all.end(), (s.*list).begin(), (s.*list).end());
  auto* there = static_cast<const double*>(r.constant(all.data(), all.size() * sizeof(double)));
  Numbers numbers;
  for (const NormalizeSample& s : samples) {
    numbers.of.push_back(there);
    numbers.step.push_back((s.*list).size() != 1);
    there += (s.*list).size();
  }
  return numbers;
}

// `mean`: for deviations from it. In a batch that is normalized as one, all samples have the same numbers.
inline Numbers reduced(Recorder& r, const std::vector<NormalizeSample>& samples, bool batch, device::Reduction fold,
                       device::Reduction result, const Numbers* mean) {
  Reducing reducing(r, fold, samples[0].in.dtype);
  int64_t total = 0;
  for (const NormalizeSample& s : samples) total += s.shape.outputs;
  auto* there = static_cast<double*>(r.scratch(size_t(total) * sizeof(double)));
  Numbers numbers;
  std::vector<void*> out;
  for (size_t i = 0; i < samples.size(); i++) {
    const ReducedShape& shape = samples[i].shape;
    reducing.add({samples[i].in.data, shape, mean ? mean->of[i] : nullptr, mean ? mean->step[i] : 0});
    numbers.of.push_back(there);
    numbers.step.push_back(1);
    out.push_back(there);
    if (!batch) there += shape.outputs;
  }
  if (mean) reducing.record_pieces("double");
  else reducing.record_pieces();
  if (batch) reducing.record_total(result, DType::f64, there);
  else reducing.record_results(result, DType::f64, 0, out);
  return numbers;
}

}  // namespace detail

// For the sake of templates with as many axes as are needed, in steps.
inline int rounded_axes(const std::vector<NormalizeSample>& samples) {
  int n = 1;
  for (const NormalizeSample& s : samples) n = std::max(n, s.shape.n);
  return n <= 3 ? n : n <= 6 ? 6 : kMaxDims;
}

inline void record_normalize(Recorder& r, const std::vector<NormalizeSample>& samples, const device::Normalization& how,
                             bool batch) {
  using device::Reduction;
  // A sample without elements may have no numbers although the others are given some.
  const auto any = [&](const std::vector<double> NormalizeSample::* list) {
    return std::any_of(samples.begin(), samples.end(), [&](const NormalizeSample& s) { return !(s.*list).empty(); });
  };
  const bool mean_given = any(&NormalizeSample::mean), stddev_given = any(&NormalizeSample::stddev);
  const detail::Numbers mean = mean_given
                                   ? detail::uploaded(r, samples, &NormalizeSample::mean)
                                   : detail::reduced(r, samples, batch, Reduction::sum, Reduction::mean, nullptr);
  const detail::Numbers spread = stddev_given
                                     ? detail::uploaded(r, samples, &NormalizeSample::stddev)
                                     : detail::reduced(r, samples, batch, Reduction::variance, Reduction::sum, &mean);

  int64_t outputs = 0, count = 0;
  for (const NormalizeSample& s : samples) {
    outputs += s.shape.outputs;
    count += s.shape.count;
  }
  auto* there = static_cast<device::NormalizeTerms*>(r.scratch(size_t(outputs) * sizeof(device::NormalizeTerms)));
  std::vector<device::NormalizeTerms*> terms;
  for (const NormalizeSample& s : samples) {
    terms.push_back(there);
    if (!batch) there += s.shape.outputs;
  }
  r.elements(PS_FUNCTOR(MakeNormalizeTerms, "tensor/normalize.h"),
             [&](const Context& c, void* functor) {
               const auto i = size_t(c.index);
               const ReducedShape& shape = samples[i].shape;
               new (functor) device::MakeNormalizeTerms{mean.of[i], spread.of[i], mean.step[i], spread.step[i],
                                                        batch ? count : shape.count, terms[i], how, stddev_given};
               return batch && i > 0 ? 0 : shape.outputs;
             });

  using Job = device::NormalizeAxesBase<kMaxDims>;
  const int n = rounded_axes(samples);
  Functor normalize =
      PS_FUNCTOR_TEMPLATE(NormalizeAxes, "tensor/normalize.h", uint8_t, uint8_t, kMaxDims)
          .of(cpp_type(samples[0].in.dtype) + ", " + cpp_type(samples[0].out.dtype) + ", " + std::to_string(n));
  normalize.bytes = offsetof(Job, axes) + size_t(n) * sizeof(device::ReduceAxis);
  r.elements(normalize,
             [&](const Context& c, void* functor) {
               const NormalizeSample& s = samples[size_t(c.index)];
               auto* job = static_cast<Job*>(functor);
               job->in = s.in.data;
               job->out = s.out.data;
               job->terms = terms[size_t(c.index)];
               for (int k = 0; k < n; k++) {
                 const auto a = k < s.shape.n ? s.shape.axes[s.shape.n - 1 - k] : ReducedShape::Axis{1, 1, 0};
                 job->axes[k] = {device::Divisor(uint64_t(std::max<int64_t>(a.extent, 1))), a.step};
               }
               return s.in.shape.volume();
             });
}

}  // namespace ps::gpu
