// Elements that are normalized one by one, for all types.
#include "ops/color/crop_mirror_normalize/elements.h"

#include <cstring>

#include "ops/color/crop_mirror_normalize/types.h"

namespace ps {

namespace {

// What a Gather (ops/gather/gather.h) does with the elements.
template <class In, class Out> struct NormalizeElements {
  const Normalization& normalization;
  Out* to;

  void copy(const uint8_t* from, int64_t stride, int64_t n, int64_t channel, int64_t channel_step) {
    for (int64_t i = 0; i < n; i++) {
      In v;
      std::memcpy(&v, from + i * stride, sizeof(In));
      to[i] = convert<Out>(normalization.apply(v, size_t(channel + i * channel_step)));
    }
    to += n;
  }
  void fill(int64_t n, int64_t channel, int64_t channel_step) {
    for (int64_t i = 0; i < n; i++)
      std::memcpy(to + i, normalization.fill.data() + size_t(channel + i * channel_step) * sizeof(Out), sizeof(Out));
    to += n;
  }
};

}  // namespace

void gather_normalized(const Gather& gather, const Normalization& normalization, const Tensor& in, const Tensor& out) {
  visit_types(in.dtype, out.dtype, [&](auto from, auto to) {
    using In = typename decltype(from)::type;
    using Out = typename decltype(to)::type;
    gather.run(in.data, NormalizeElements<In, Out>{normalization, out.as<Out>()});
  });
}

}  // namespace ps
