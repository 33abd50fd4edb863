// Element-wise functions on a GPU: kernels of their own, and stages of fused kernels (device/tensor/elementwise.h).
#pragma once

#include <functional>
#include <string>

#include "cuda/record/operator.h"

namespace ps::gpu {

struct ElementwiseOperand {
  const Tensor* tensor = nullptr;      // its shape can be broadcast to the result's
  bool on_host = false;
  DType compute = DType::none;         // the type as which it takes part
};

// What is computed, for one sample.
struct ElementwiseCall {
  static constexpr int kMaxOperands = 3;
  std::string function;                // "ps::device::Add", of device/tensor/functions.h
  int count = 0;                       // of operands
  ElementwiseOperand operands[kMaxOperands];
};

// Writes the result into output 0. Operands on the host go along with the kernel's arguments.
void record_elementwise(Recorder& r, const std::function<ElementwiseCall(const Context&)>& call);

// As a stage; the operand with index `above` is what the stage above gives.
Misfit elementwise_misfit(const Context& c, const ElementwiseCall& call, int above);
Functor elementwise_stage(const Context& c, const ElementwiseCall& call, int above);
void fill_elementwise_stage(const Context& c, const ElementwiseCall& call, int above, void* functor);

}  // namespace ps::gpu
