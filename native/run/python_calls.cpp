#include "run/python_calls.h"

#include <algorithm>
#include <utility>

namespace ps {

PythonCalls::Call PythonCalls::next() {
  Call call;
  Scheduler::Lock lock(scheduler_.mutex);
  scheduler_.python_work.wait(lock, [&] { return scheduler_.stopped || (call.batch = scheduler_.find_call()); });
  if (scheduler_.stopped) fail(ErrorKind::stopped, "the pipeline is closed");
  call.node = scheduler_.segment(*call.batch).nodes[size_t(call.batch->next++)];
  call.start_ns = now_ns();
  if (gpu_) call.stream = gpu_->stream();
  return call;
}

void PythonCalls::answer(const Call& call, std::vector<FedRef> outputs) {
  Batch& b = *call.batch;
  const Node& node = plan_.nodes[size_t(call.node)];
  const size_t samples = size_t(b.count(node.scope));
  if (outputs.size() != node.outputs.size())
    fail(ErrorKind::internal,
         std::to_string(outputs.size()) + " outputs, expected " + std::to_string(node.outputs.size()));
  for (const FedRef& given : outputs)
    if (given->samples.size() != samples)
      fail(ErrorKind::internal,
           std::to_string(given->samples.size()) + " samples, expected " + std::to_string(samples));
  const bool on_gpu = std::any_of(outputs.begin(), outputs.end(), [](const FedRef& f) { return f->buffer != nullptr; });
  {
    std::lock_guard lock(b.mutex);                 // others may be called with the same batch
    for (size_t k = 0; k < outputs.size(); k++) b.feed(node.outputs[k], std::move(outputs[k]));
    if (on_gpu) order_fed(b, gpu_);
  }
  end(call);
}

void PythonCalls::refuse(const Call& call, std::string why) {
  call.batch->fail({ErrorKind::function, call.node, -1, std::move(why), ""});
  end(call);
}

// The answer to a batch that was thrown away meanwhile is ignored.
void PythonCalls::end(const Call& call) {
  Batch& b = *call.batch;
  Scheduler::Lock lock(scheduler_.mutex);
  if (scheduler_.stopped || b.cancelled) return;
  const int64_t now = now_ns();
  NodeStats& stats = stats_[size_t(call.node)];
  stats.run_ns += now - call.start_ns;
  stats.samples += b.count(plan_.nodes[size_t(call.node)].scope);
  if (trace_->on()) trace_->add(Trace::python, Did::run, call.node, b.number, -1, call.start_ns, now);
  int ended = 1;
  if (b.failed) ended += b.pieces() - b.next.exchange(b.pieces());   // nothing else is called
  if (b.left.fetch_sub(ended) != ended) return;
  b.end_phase();
  scheduler_.step(b);
  const auto some = scheduler_.wanted();
  lock.unlock();
  scheduler_.wake(some);
}

void PythonCalls::add_to(std::vector<NodeStats>& sum) const {
  for (size_t n = 0; n < sum.size(); n++) {
    sum[n].run_ns += stats_[n].run_ns;
    sum[n].samples += stats_[n].samples;
  }
}

}  // namespace ps
