// Copies a batch to the GPU.
#include "ops/transfer/transfer.h"

#include <algorithm>

namespace ps {

class ToGpu : public Transfer {
 public:
  using Transfer::Transfer;

 protected:
  void copy(gpu::Recorder& r, uint8_t* to, const uint8_t* from, size_t bytes, size_t all) const override {
    r.copy_to_device(to, from, bytes);
    for (size_t there = bytes; there < all; there *= 2) r.copy(to + there, to, std::min(there, all - there));
  }
};

PS_OPERATOR("to_gpu", ToGpu)

}  // namespace ps
