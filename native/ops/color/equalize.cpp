// Histograms made even.

#include "device/color/equalize.h"

#include <string>
#include <vector>

#include "core/operator.h"
#include "cuda/record/operator.h"
#include "ops/arguments/planes.h"
#include "ops/color/histograms.h"

namespace ps {

class Equalize : public Operator, public GpuOperator {
  static constexpr size_t kGrays = device::kGrays;

 public:
  explicit Equalize(const Spec&) {}

  void setup(const Context& c) const override {
    const Tensor& in = c.in(0);
    if (in.dtype != DType::u8)
      fail(ErrorKind::type, std::string("the input is ") + name_of(in.dtype) + ": expected UINT8");
    const Planes p = planes_of(in);
    if (p.height * p.width > UINT32_MAX) fail(ErrorKind::unsupported, "a picture has too many pixels");
    c.out(0).dtype = DType::u8;
    c.out(0).shape = in.shape;
    c.out(0).layout = p.layout;
  }

  void run(const Context& c) const override {
    const Planes p = planes_of(c.in(0));
    const int64_t n = p.elements();
    for (int64_t i = 0; n && i < p.count; i++) {
      const uint8_t* from = c.in(0).as<uint8_t>() + i * n;
      uint8_t* to = c.out(0).as<uint8_t>() + i * n;
      switch (p.channels) {
        case 1: equalize<1>(from, to, n, 1); break;
        case 3: equalize<3>(from, to, n, 3); break;
        default: equalize<0>(from, to, n, p.channels);
      }
    }
  }

  void record(gpu::Recorder& r) const override {
    std::vector<uint32_t*> counts;
    std::vector<uint8_t*> tables;
    for (int i = 0; i < r.size(); i++) {
      const auto n = size_t(histograms(r[i])) * kGrays;
      counts.push_back(static_cast<uint32_t*>(r.scratch(n * device::kEqualizeSlices * sizeof(uint32_t))));
      tables.push_back(static_cast<uint8_t*>(r.scratch(n)));
    }
    record_histograms<device::EqualizeCounts>(
        r, "color/equalize.h", PS_LAYOUT_OF(EqualizeCounts) + "PS_HISTOGRAM_KERNEL(EqualizeCounts)\n",
        [](const Context& c) { return histograms(c) * device::kEqualizeSlices; },
        [&](const Context& c) {
          const Planes p = planes_of(c.in(0));
          return device::EqualizeCounts{c.in(0).as<uint8_t>(), counts[size_t(c.index)], p.height * p.width,
                                        int32_t(p.channels)};
        });
    r.elements(PS_FUNCTOR(EqualizeSums, "color/equalize.h"), [&](const Context& c, void* to) {
      *static_cast<device::EqualizeSums*>(to) = {counts[size_t(c.index)]};
      return histograms(c) * device::kGrays;
    });
    r.elements(PS_FUNCTOR(EqualizeTables, "color/equalize.h"), [&](const Context& c, void* to) {
      *static_cast<device::EqualizeTables*>(to) = {counts[size_t(c.index)], tables[size_t(c.index)]};
      return histograms(c);
    });
    r.elements(PS_FUNCTOR(EqualizeValues, "color/equalize.h"), [&](const Context& c, void* to) {
      const Planes p = planes_of(c.in(0));
      if (histograms(c))
        *static_cast<device::EqualizeValues*>(to) = {
            c.in(0).as<uint8_t>(), tables[size_t(c.index)], c.out(0).as<uint8_t>(),
            device::Divisor(uint64_t(p.elements())), device::Divisor(uint64_t(p.channels))};
      return c.in(0).shape.volume();
    });
  }

 private:
  // None where there are no pixels.
  static int64_t histograms(const Context& c) {
    const Planes p = planes_of(c.in(0));
    return p.elements() ? p.count * p.channels : 0;
  }

  // C: the number of channels, or 0 for any.
  template <int64_t C>
  static void equalize(const uint8_t* __restrict from, uint8_t* __restrict to, int64_t n, int64_t any) {
    const int64_t channels = C ? C : any;
    // Two counters of each by turns: equal neighbours then need not wait for each other.
    std::vector<uint32_t> counts(size_t(channels) * kGrays * 2);
    const auto one = [&](int64_t i, int64_t turn) {
      for (int64_t k = 0; k < channels; k++) counts[size_t(k * 2 + turn) * kGrays + from[i + k]]++;
    };
    int64_t i = 0;
    for (; i + 2 * channels <= n; i += 2 * channels) one(i, 0), one(i + channels, 1);
    if (i < n) one(i, 0);
    std::vector<uint8_t> tables(size_t(channels) * kGrays);
    for (size_t k = 0; k < size_t(channels); k++) {
      uint32_t* both = counts.data() + k * 2 * kGrays;
      for (size_t v = 0; v < kGrays; v++) both[v] += both[kGrays + v];
      device::equalize_table(both, tables.data() + k * kGrays);
    }
    const uint8_t* table = tables.data();
    for (i = 0; i < n; i += channels)
      for (int64_t k = 0; k < channels; k++) to[i + k] = table[size_t(k) * kGrays + from[i + k]];
  }
};

PS_OPERATOR("equalize", Equalize)

}  // namespace ps
