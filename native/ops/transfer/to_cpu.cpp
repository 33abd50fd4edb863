// Copies a batch to the CPU.
#include "ops/transfer/transfer.h"

namespace ps {

class ToCpu : public Transfer {
 public:
  using Transfer::Transfer;

 protected:
  void copy(gpu::Recorder& r, void* to, const void* from, size_t bytes) const override {
    r.copy_to_host(to, from, bytes);
  }
};

PS_OPERATOR("to_cpu", ToCpu)

}  // namespace ps
