// What is known of a tensor besides its elements, as a tensor of its own. Where the input's memory is, if it has any,
// does not matter.
#pragma once

#include <vector>

#include "cuda/record/operator.h"

namespace ps {

class Metadata : public Operator, public GpuOperator {
 public:
  bool reads_elements(int) const final { return false; }
  void run(const Context& c) const final { write(c, c.out(0).as<uint8_t>()); }

  // One copy: the outputs lie one behind the other.
  void record(gpu::Recorder& r) const final {
    std::vector<uint8_t> all;
    for (int i = 0; i < r.size(); i++) {
      const size_t at = all.size();
      all.resize(at + r[i].out(0).bytes());
      write(r[i], all.data() + at);
    }
    if (!all.empty()) r.copy(r[0].out(0).data, r.constant(all.data(), all.size()), all.size());
  }

 protected:
  virtual void write(const Context& c, uint8_t* to) const = 0;
};

}  // namespace ps
