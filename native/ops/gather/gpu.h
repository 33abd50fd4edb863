// A Gather (ops/gather/gather.h) of each sample of a batch, as one kernel.
#pragma once

#include <functional>
#include <string>

#include "cuda/record/operator.h"
#include "device/gather/gather.h"
#include "ops/gather/gather.h"

namespace ps::gpu {

// Adds the sample's axes; pointers, and numbers per channel that are needed, go into the head.
using DescribeGather = std::function<void(const Context&, ps::Gather&, device::GatherHead&)>;

// `functor` is a template on two types and the number of axes. `from` and `to` are the types as
// which elements are read and written, `border` says what lies beyond the input.
void record_gather(Recorder& r, const FunctorTemplate& functor, DType from, DType to, Border border,
                   const DescribeGather& describe);

inline constexpr FunctorTemplate kGather = PS_FUNCTOR_TEMPLATE(Gather, "gather/gather.h", uint8_t, uint8_t, kMaxDims);

// Where elements only move. What is returned is the input from its element 0 on, as the axes count.
void record_moves(Recorder& r, const std::function<const void*(const Context&, ps::Gather&)>& describe);

}  // namespace ps::gpu
