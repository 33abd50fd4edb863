// Where the part of a signal begins that is not silent, and how long it is.
#include "device/audio/nonsilent_region.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "cuda/record/layout.h"
#include "cuda/record/operator.h"

namespace ps {
namespace {

template <class F> void visit_signal(DType t, F f) {
  switch (t) {
    case DType::u8: return f(uint8_t());
    case DType::u16: return f(uint16_t());
    case DType::u32: return f(uint32_t());
    case DType::u64: return f(uint64_t());
    case DType::i8: return f(int8_t());
    case DType::i16: return f(int16_t());
    case DType::i32: return f(int32_t());
    case DType::i64: return f(int64_t());
    case DType::f32: return f(float());
    default: fail(ErrorKind::type, std::string("the input is ") + name_of(t) + ": expected FLOAT or integers");
  }
}

}  // namespace

class NonsilentRegion : public Operator, public GpuOperator {
 public:
  static constexpr Count kOutputs{2, 2};
  explicit NonsilentRegion(const Spec& s)
      : cutoff_(float(std::pow(10.0, s.number("cutoff_db") / 10))), reference_(float(s.number("reference_power"))),
        window_(s.integer("window_length")) {}

  void setup(const Context& c) const override {
    const Tensor& in = c.in(0);
    visit_signal(in.dtype, [](auto) {});
    if (in.shape.ndim != 1)
      fail(ErrorKind::argument, "the input has the shape " + to_string(in.shape) + ": expected one axis");
    if (in.shape[0] > INT32_MAX) fail(ErrorKind::argument, "the signal has more samples than INT32 can count");
    for (int i = 0; i < 2; i++) {
      c.out(i).dtype = DType::i32;
      c.out(i).shape = {};
      c.out(i).layout = {};
    }
  }

  void run(const Context& c) const override {
    visit_signal(c.in(0).dtype, [&](auto one) {
      const device::LoudPart found = find(c, c.in(0).as<decltype(one)>());
      *c.out(0).as<int32_t>() = int32_t(found.begin);
      *c.out(1).as<int32_t>() = int32_t(found.length);
    });
  }

  void record(gpu::Recorder& r) const override {
    if (!r.size()) return;
    using Job = device::RegionJob;
    constexpr size_t stride = (sizeof(Job) + 15) / 16 * 16;
    std::vector<uint8_t> jobs(stride * size_t(r.size()));
    for (int i = 0; i < r.size(); i++) {
      const Context& c = r[i];
      if (c.in(0).dtype != r[0].in(0).dtype)
        fail(ErrorKind::type, "the samples of a batch on the GPU must have one type");
      const auto blocks = size_t(blocks_of(c)) + 1;
      Job job{c.in(0).data, static_cast<double*>(r.scratch(blocks * sizeof(double))),
              static_cast<float*>(r.scratch(blocks * sizeof(float))), c.out(0).as<int32_t>(), c.out(1).as<int32_t>(),
              silence(c)};
      std::memcpy(jobs.data() + stride * size_t(i), &job, sizeof job);
    }
    r.launch(std::string("#include \"device/audio/nonsilent_region.h\"\n") + PS_LAYOUT_OF(Launch) +
                 PS_LAYOUT_OF(RegionJob) + "PS_REGION_KERNEL(" + gpu::cpp_type(r[0].in(0).dtype) + ")\n",
             std::vector<int>(size_t(r.size()), 1), jobs, stride, device::kRegionThreads,
             device::kRegionThreads * int(sizeof(float) + 2 * sizeof(int32_t)));
  }

 private:
  static int64_t blocks_of(const Context& c) {
    return (c.in(0).shape[0] + device::kRegionBlock - 1) / device::kRegionBlock;
  }
  device::Silence silence(const Context& c) const {
    const int64_t n = c.in(0).shape[0];
    return {n, std::max<int64_t>(std::min(window_, n), 1), cutoff_, reference_};
  }

  template <class T> device::LoudPart find(const Context& c, const T* in) const {
    const device::Silence s = silence(c);
    const int64_t blocks = blocks_of(c);
    auto* sums = static_cast<double*>(c.scratch->take(size_t(blocks + 1) * sizeof(double)));
    auto* largest = static_cast<float*>(c.scratch->take(size_t(blocks + 1) * sizeof(float)));
    for (int64_t b = 0; b < blocks; b++) device::sum_block(s, in, sums, b);
    float all = 0;
    for (int64_t b = 0; b < blocks; b++)
      all = std::max(all, largest[b] = device::largest_mean(s, in, sums, b));
    const float threshold = device::threshold_of(s, all);
    int64_t first = 0, last = blocks - 1;
    while (first <= last && largest[first] < threshold) first++;
    while (last >= first && largest[last] < threshold) last--;
    return device::loud_part(s, in, sums, threshold, first, last);
  }

  float cutoff_, reference_;
  int64_t window_;
};

PS_OPERATOR("nonsilent_region", NonsilentRegion)

}  // namespace ps
