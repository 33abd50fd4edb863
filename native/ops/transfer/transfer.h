// What copies to the GPU and copies to the CPU share: samples that are contiguous on both sides go in one copy.
#pragma once

#include "cuda/record/operator.h"

namespace ps {

class Transfer : public Operator, public GpuOperator {
 public:
  explicit Transfer(const Spec&) {}

  void setup(const Context& c) const override {
    c.out(0).dtype = c.in(0).dtype;
    c.out(0).shape = c.in(0).shape;
    c.out(0).layout = c.in(0).layout;
  }
  void run(const Context&) const override { fail(ErrorKind::internal, "copies between CPU and GPU run on the GPU"); }

  void record(gpu::Recorder& r) const override {
    for (int i = 0; i < r.size();) {
      const uint8_t* from = r[i].in(0).as<uint8_t>();
      uint8_t* to = r[i].out(0).as<uint8_t>();
      const size_t one = r[i].in(0).bytes();
      size_t bytes = one;
      i++;
      // Constants: all samples show the same memory.
      const bool repeats = i < r.size() && one && r[i].in(0).data == from;
      while (i < r.size() && r[i].in(0).data == from + (repeats ? 0 : bytes) && r[i].out(0).data == to + bytes &&
             (!repeats || r[i].in(0).bytes() == one))
        bytes += r[i++].in(0).bytes();
      copy(r, to, from, repeats ? one : bytes, bytes);
    }
  }

 protected:
  // Writes `all` bytes, which repeat those `bytes`.
  virtual void copy(gpu::Recorder& r, uint8_t* to, const uint8_t* from, size_t bytes, size_t all) const = 0;
};

}  // namespace ps
