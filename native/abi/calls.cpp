// The C ABI of segments in Python.
#include <utility>

#include "abi/executor.h"
#include "abi/guard.h"
#include "abi/tensor.h"

using namespace ps;

namespace {

PythonCalls::Call from_c(const ps_call& c) { return {c.batch->batch, c.node, c.start_ns}; }

}  // namespace

int ps_executor_next_call(ps_executor* e, ps_call* to) {
  return guarded([&] {
    PythonCalls::Call call = e->use()->python().next();
    std::vector<BufferRef> kept = call.batch->blocks(call.batch->plan->nodes[size_t(call.node)].inputs);
    to->node = call.node;
    to->size = call.batch->count(call.batch->plan->nodes[size_t(call.node)].scope);
    to->iteration = call.batch->number;
    to->start_ns = call.start_ns;
    to->stream = call.stream ? reinterpret_cast<uint64_t>(gpu::CUstream(*call.stream)) : 0;
    to->batch = new ps_batch{std::move(call.batch), std::move(kept), std::move(call.stream)};
    return 0;
  });
}

int ps_executor_answer(ps_executor* e, const ps_call* call, const ps_fed* const* outputs, int n) {
  return guarded([&] {
    std::vector<FedRef> fed;
    for (int k = 0; k < n; k++) fed.push_back(outputs[k]->fed);
    e->use()->python().answer(from_c(*call), std::move(fed));
    return 0;
  });
}

int ps_executor_refuse(ps_executor* e, const ps_call* call, const char* why) {
  return guarded([&] { e->use()->python().refuse(from_c(*call), why); return 0; });
}
