// Each sample less a share of the one before it.
#include "device/audio/preemphasis_filter.h"

#include <algorithm>

#include "core/converter.h"
#include "cuda/record/operator.h"
#include "ops/audio/signal.h"

namespace ps {

class PreemphasisFilter : public Operator, public GpuOperator {
 public:
  explicit PreemphasisFilter(const Spec& s)
      : share_(s.arg<float>("preemph_coeff")), dtype_(s.dtype("dtype")), border_(s.string("border")) {}

  void setup(const Context& c) const override {
    const Tensor& in = c.in(0);
    if (in.dtype == DType::boolean || in.dtype == DType::f16 || !size_of(in.dtype))
      fail(ErrorKind::type, std::string("the input is ") + name_of(in.dtype) + ": expected integers, FLOAT or FLOAT64");
    Tensor& out = c.out(0);
    out.dtype = dtype_;
    out.shape = in.shape;
    out.layout = in.layout;
  }

  void run(const Context& c) const override {
    if (c.in(0).dtype == DType::f64) filter<double>(c);
    else filter<float>(c);
  }

  void record(gpu::Recorder& r) const override {
    if (!r.size()) return;
    const DType from = r[0].in(0).dtype;
    const std::string types = gpu::cpp_type(from) + ", " + gpu::cpp_type(dtype_);
    r.elements(PS_FUNCTOR_TEMPLATE(Preemphasis, "audio/preemphasis_filter.h", float, float).of(types),
               [&](const Context& c, void* functor) {
                 if (c.in(0).dtype != from)
                   fail(ErrorKind::type, "the samples of a batch on the GPU must have one type");
                 const int64_t n = c.in(0).shape.volume();
                 new (functor) device::PreemphasisFields{c.in(0).data, c.out(0).data, first(n), share_.get(c)};
                 return n;
               });
  }

 private:
  int64_t first(int64_t n) const { return border_ == "clamp" ? 0 : border_ == "reflect" && n > 1 ? 1 : -1; }

  // Piece by piece, as numbers of type C.
  template <class C> void filter(const Context& c) const {
    constexpr int64_t kPiece = 2048;
    const Tensor &in = c.in(0), &out = c.out(0);
    const int64_t n = in.shape.volume(), before = first(n);
    const DType as = sizeof(C) == 8 ? DType::f64 : DType::f32;
    const Convert to_c = converter(in.dtype, as), from_c = converter(as, out.dtype);
    const C share = C(share_.get(c));
    C numbers[kPiece + 1], found[kPiece];
    numbers[0] = 0;
    if (before >= 0 && n) to_c(in.as<uint8_t>() + size_t(before) * size_of(in.dtype), numbers, 1);
    for (int64_t at = 0; at < n; at += kPiece) {
      const int64_t count = std::min(kPiece, n - at);
      C* to = out.dtype == as ? out.as<C>() + at : found;
      const C* from = numbers + 1;
      if (in.dtype == as) from = in.as<C>() + at;
      else to_c(in.as<uint8_t>() + size_t(at) * size_of(in.dtype), numbers + 1, size_t(count));
      to[0] = from[0] - share * numbers[0];
      for (int64_t i = 1; i < count; i++) to[i] = from[i] - share * from[i - 1];
      if (to == found) from_c(found, out.as<uint8_t>() + size_t(at) * size_of(out.dtype), size_t(count));
      numbers[0] = from[count - 1];
    }
    if (before < 0 && n) converter(in.dtype, out.dtype)(in.data, out.data, 1);   // not by way of C
  }

  Arg<float> share_;
  DType dtype_;
  std::string border_;
};

PS_OPERATOR("preemphasis_filter", PreemphasisFilter)

}  // namespace ps
