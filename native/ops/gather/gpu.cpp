#include "ops/gather/gpu.h"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace ps::gpu {
namespace {

device::Edge edge_of(Border b) {
  switch (b) {
    case Border::edge: return device::Edge::clamp;
    case Border::reflect_1001: return device::Edge::reflect_1001;
    case Border::reflect_101: return device::Edge::reflect_101;
    case Border::wrap: return device::Edge::wrap;
    default: return device::Edge::none;
  }
}

bool inside(const GatherAxis& a) {
  const int64_t last = a.first + (a.size - 1) * a.step;
  return std::min(a.first, last) >= 0 && std::max(a.first, last) < a.extent;
}

struct Axes {
  std::vector<GatherAxis> list;        // strides in elements
  int channels = -1;
  int64_t count = 1;                   // elements of the output
};

// As few axes as say the same: neighbours that are neighbours in the input too become one, and those of one element go.
Axes merged(const ps::Gather& gather, int64_t element) {
  Axes to;
  for (GatherAxis a : gather) {
    a.stride /= element;
    to.count *= std::max<int64_t>(a.size, 0);
    if (!to.list.empty()) {
      GatherAxis& above = to.list.back();
      if (a.whole() && above.step == 1 && inside(above) && above.stride == a.stride * a.extent && !a.channels &&
          !above.channels) {
        above = {above.size * a.size, above.first * a.extent, 1, above.extent * a.extent, a.stride, false};
        continue;
      }
      if (above.size == 1 && inside(above) && above.first == 0 && !above.channels) to.list.pop_back();
    }
    to.list.push_back(a);
  }
  if (to.list.empty()) to.list.push_back({1, 0, 1, 1, 0});
  for (size_t k = 0; k < to.list.size(); k++)
    if (to.list[k].channels) to.channels = int(k);
  return to;
}

DType unsigned_of(DType t) {
  switch (size_of(t)) {
    case 1: return DType::u8;
    case 2: return DType::u16;
    case 4: return DType::u32;
    default: return DType::u64;
  }
}

}  // namespace

void record_gather(Recorder& r, const FunctorTemplate& functor, DType from, DType to, Border border,
                   const DescribeGather& describe) {
  using Job = device::GatherBase<kMaxDims>;
  std::vector<Axes> axes;
  std::vector<device::GatherHead> heads(size_t(r.size()));
  size_t most = 1;
  for (int i = 0; i < r.size(); i++) {
    device::GatherHead& head = heads[size_t(i)];
    head = {r[i].in(0).data, r[i].out(0).data, nullptr, nullptr, nullptr, nullptr, edge_of(border), -1};
    ps::Gather gather(border);
    describe(r[i], gather, head);
    axes.push_back(merged(gather, int64_t(size_of(from))));
    most = std::max(most, axes.back().list.size());
  }
  Functor type = functor.of(cpp_type(from) + ", " + cpp_type(to) + ", " + std::to_string(most));
  type.bytes = offsetof(Job, axes) + most * sizeof(device::GatherAxis);
  r.elements(type, [&](const Context& c, void* memory) {
    const Axes& a = axes[size_t(c.index)];
    Job& job = *static_cast<Job*>(memory);
    job.head = heads[size_t(c.index)];
    const size_t lacking = most - a.list.size();
    if (a.channels >= 0) job.head.channel_axis = a.channels + int(lacking);
    for (size_t k = 0; k < most; k++) {
      const GatherAxis& x = k < lacking ? GatherAxis{1, 0, 1, 1, 0} : a.list[k - lacking];
      job.axes[k] = {device::Divisor(uint64_t(std::max<int64_t>(x.size, 1))), x.first, x.step, x.extent, x.stride};
    }
    return a.count;
  });
}

void record_moves(Recorder& r, const std::function<const void*(const Context&, ps::Gather&)>& describe) {
  if (!r.size()) return;
  const DType t = unsigned_of(r[0].in(0).dtype);
  record_gather(r, kGather, t, t, Border::error,
                [&](const Context& c, ps::Gather& gather, device::GatherHead& head) { head.in = describe(c, gather); });
}

}  // namespace ps::gpu
