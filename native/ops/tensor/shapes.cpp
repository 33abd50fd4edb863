// The extents of a tensor.
#include "core/converter.h"
#include "ops/tensor/metadata.h"

namespace ps {

class Shapes : public Metadata {
 public:
  explicit Shapes(const Spec& s) : dtype_(s.dtype("dtype")) {}

  void setup(const Context& c) const override {
    c.out(0).dtype = dtype_;
    c.out(0).shape = {c.in(0).shape.ndim};
    c.out(0).layout = {};
  }

 protected:
  void write(const Context& c, uint8_t* to) const override {
    const Shape& shape = c.in(0).shape;
    converter(DType::i64, dtype_)(shape.dims, to, size_t(shape.ndim));
  }

 private:
  DType dtype_;
};

PS_OPERATOR("shapes", Shapes)

}  // namespace ps
