// Reductions on the CPU: what they consist of, for elements of any type.
#pragma once

#include "core/memory.h"
#include "device/tensor/reductions.h"
#include "ops/tensor/reductions/axes.h"

namespace ps {

// Elements of `in` to one result for each output, of the type Fold<T>::Result. `mean`: one for each output, for
// deviations. Each fold is compiled in a unit of its own.
template <template <class> class Fold>
void reduce(DType type, const ReducedShape& shape, Arena& scratch, const double* mean, const void* in, void* results);
extern template void reduce<device::SumFold>(DType, const ReducedShape&, Arena&, const double*, const void*, void*);
extern template void reduce<device::SquareFold>(DType, const ReducedShape&, Arena&, const double*, const void*, void*);
extern template void reduce<device::MinFold>(DType, const ReducedShape&, Arena&, const double*, const void*, void*);
extern template void reduce<device::MaxFold>(DType, const ReducedShape&, Arena&, const double*, const void*, void*);
extern template void reduce<device::DeviationFold>(DType, const ReducedShape&, Arena&, const double*, const void*,
                                                   void*);

// Calls f with the fold that a reduction consists of: f(tag), tag.reduce(...), tag.Result<T>.
template <template <class> class FoldOf> struct FoldTag {
  template <class T> using Result = typename FoldOf<T>::Result;
  static constexpr auto reduce = &ps::reduce<FoldOf>;
};
template <class F> decltype(auto) visit_fold(device::Reduction r, F&& f) {
  using device::Reduction;
  switch (r) {
    case Reduction::sum:
    case Reduction::mean: return f(FoldTag<device::SumFold>{});
    case Reduction::mean_square:
    case Reduction::rms: return f(FoldTag<device::SquareFold>{});
    case Reduction::min: return f(FoldTag<device::MinFold>{});
    case Reduction::max: return f(FoldTag<device::MaxFold>{});
    default: return f(FoldTag<device::DeviationFold>{});
  }
}

}  // namespace ps
