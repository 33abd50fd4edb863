// A copy: other memory with the same elements.
#include <cstring>

#include "ops/transfer/transfer.h"

namespace ps {

class Copy : public Transfer {
 public:
  using Transfer::Transfer;

  void run(const Context& c) const override {
    if (const size_t bytes = c.in(0).bytes()) std::memcpy(c.out(0).data, c.in(0).data, bytes);
  }

 protected:
  void copy(gpu::Recorder& r, uint8_t* to, const uint8_t* from, size_t bytes, size_t all) const override {
    for (size_t there = 0; there < all; there += bytes) r.copy(to + there, from, bytes);
  }
};

PS_OPERATOR("copy", Copy)

}  // namespace ps
