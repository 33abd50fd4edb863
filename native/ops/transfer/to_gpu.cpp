// Copies a batch to the GPU.
#include "ops/transfer/transfer.h"

namespace ps {

class ToGpu : public Transfer {
 public:
  using Transfer::Transfer;

 protected:
  void copy(gpu::Recorder& r, void* to, const void* from, size_t bytes) const override {
    r.copy_to_device(to, from, bytes);
  }
};

PS_OPERATOR("to_gpu", ToGpu)

}  // namespace ps
