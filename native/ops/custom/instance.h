// What a library keeps for one use of its operator.
#pragma once

#include "ops/custom/sample.h"

namespace ps::custom {

class Instance {
 public:
  Instance(const penstock_operator& op, const Spec& spec) : op(op), arguments(spec, op) {
    if (!op.create) return;
    std::vector<const penstock_value*> values;
    for (const penstock_value& value : arguments.constant()) values.push_back(&value);
    call("create", [&](penstock_error* e) { return op.create(values.data(), op.num_arguments, &self, e); });
    made_ = true;
  }
  ~Instance() {
    if (made_ && op.destroy) op.destroy(self);
  }
  Instance(const Instance&) = delete;
  Instance& operator=(const Instance&) = delete;

  // Has the library say what the outputs are; `c.outputs` are what it begins with.
  void setup(const Context& c) const { setup(c, c.st<SampleView>()); }
  void setup(const Context& c, SampleView& view) const {
    view.fill(c, op, arguments, op.setup_reads, false);
    if (op.setup) call("setup", [&](penstock_error* e) { return op.setup(self, &view.sample(), e); });
    view.take_outputs(c);
  }

  const penstock_operator& op;
  const Arguments arguments;
  void* self = nullptr;

 private:
  bool made_ = false;
};

}  // namespace ps::custom
