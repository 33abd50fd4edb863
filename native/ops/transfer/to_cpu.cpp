// Copies a batch to the CPU.
#include "ops/transfer/transfer.h"

namespace ps {

class ToCpu : public Transfer {
 public:
  using Transfer::Transfer;

 protected:
  void copy(gpu::Recorder& r, uint8_t* to, const uint8_t* from, size_t bytes, size_t all) const override {
    for (size_t there = 0; there < all; there += bytes) r.copy_to_host(to + there, from, bytes);
  }
};

PS_OPERATOR("to_cpu", ToCpu)

}  // namespace ps
