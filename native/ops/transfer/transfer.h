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
      size_t bytes = 0;
      do bytes += r[i++].in(0).bytes();
      while (i < r.size() && r[i].in(0).data == from + bytes && r[i].out(0).data == to + bytes);
      copy(r, to, from, bytes);
    }
  }

 protected:
  virtual void copy(gpu::Recorder& r, void* to, const void* from, size_t bytes) const = 0;
};

}  // namespace ps
