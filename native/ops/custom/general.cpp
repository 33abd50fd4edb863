// Operators of others' libraries that run alone: sample by sample on the CPU, batch by batch on a GPU.

#include "cuda/record/operator.h"
#include "ops/custom/instance.h"
#include "ops/custom/operators.h"

namespace ps::custom {
namespace {

void* device_scratch(const penstock_batch* batch, uint64_t bytes) {
  if (bytes > Tensor::kTooManyBytes) return nullptr;
  try {
    return static_cast<gpu::Recorder*>(batch->context)->scratch(std::max<size_t>(bytes, 1));
  } catch (const std::exception&) {
    return nullptr;
  }
}

class General : public Operator, public GpuOperator {
 public:
  General(const penstock_operator& op, const Spec& spec) : instance_(op, spec) {}

  size_t params_size() const override { return instance_.op.params_bytes; }
  std::unique_ptr<State> make_state() const override { return std::make_unique<SampleView>(); }
  void setup(const Context& c) const override {
    for (int k = 0; k < c.num_outputs; k++) {
      Tensor& out = c.out(k);
      out.dtype = DType::none;                     // what an earlier batch had here is not shown
      out.shape = {};
      out.layout = {};
    }
    instance_.setup(c);
  }

  void run(const Context& c) const override {
    auto& view = c.st<SampleView>();
    view.fill(c, instance_.op, instance_.arguments, kAllInputs, true);
    call("run", [&](penstock_error* e) { return instance_.op.run(instance_.self, &view.sample(), e); });
  }

  // The library is called when the batch is enqueued: by then all that its inputs on the CPU need is done.
  void record(gpu::Recorder& r) const override {
    if (!r.size()) return;
    std::vector<Context> contexts;
    for (int i = 0; i < r.size(); i++) contexts.push_back(r[i]);
    r.call([this, &r, contexts = std::move(contexts)](gpu::CUstream stream) { launch(r, contexts, stream); });
  }

 private:
  void launch(gpu::Recorder& r, const std::vector<Context>& contexts, gpu::CUstream stream) const {
    std::vector<SampleView> views(contexts.size());
    std::vector<const penstock_sample*> samples;
    for (size_t i = 0; i < contexts.size(); i++) {
      try {
        views[i].fill(contexts[i], instance_.op, instance_.arguments, kAllInputs, true);
      } catch (const Error& e) {
        throw Error(e.kind, e.what(), int(i));
      }
      samples.push_back(&views[i].sample());
    }
    penstock_batch batch{};
    batch.size = sizeof batch;
    batch.num_samples = int32_t(contexts.size());
    batch.device = r.device().number();
    batch.stream = stream;
    batch.samples = samples.data();
    batch.scratch = device_scratch;
    batch.context = &r;
    try {
      call("run_gpu", [&](penstock_error* e) { return instance_.op.run_gpu(instance_.self, &batch, e); },
           batch.num_samples);
    } catch (const Error& e) {
      if (e.sample < 0) throw;
      throw Errors({e});
    }
  }

  Instance instance_;
};

}  // namespace

std::unique_ptr<Operator> make_general(const penstock_operator& op, const Spec& spec) {
  return std::make_unique<General>(op, spec);
}

}  // namespace ps::custom
