// A second base of operators that read from afar.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "core/tensor.h"

namespace ps {

class Foresees {
 public:
  virtual ~Foresees() = default;
  // Called when an iteration is scheduled, if the first input is given from outside, with that of all samples: so what
  // they need can be asked for, long before it is their turn. Waits for nothing and fails for nothing: what is wrong,
  // setup() tells. What is put into `kept` lives until the iteration is done.
  virtual void foresee(std::span<const Tensor> inputs, std::vector<std::shared_ptr<void>>& kept) const = 0;
};

}  // namespace ps
