// The bytes of one of NumPy's files -> its array.
#include <cstring>

#include "core/converter.h"
#include "core/operator.h"
#include "ops/tensor/transpose/host.h"
#include "read/npy.h"

namespace ps {
namespace {

class DecodeNumpy : public Operator {
 public:
  explicit DecodeNumpy(const Spec& s) : dtype_(s.dtype("dtype")) {}

  size_t params_size() const override { return sizeof(NpyHeader); }

  void setup(const Context& c) const override {
    const Tensor& file = c.in(0);
    if (size_of(file.dtype) != 1 || file.shape.ndim != 1)
      fail(ErrorKind::type, std::string("expected the bytes of a file (1-D, UINT8), got ") + name_of(file.dtype) +
           " of shape " + to_string(file.shape));
    NpyHeader& h = c.param<NpyHeader>() = read_npy_header(file.as<uint8_t>(), file.bytes(), ErrorKind::decode);
    const size_t have = file.bytes() - size_t(h.begin);
    if (have != h.bytes())
      fail(ErrorKind::decode, "a .npy file is broken: its array has " + std::to_string(h.bytes()) + " bytes, but " +
           std::to_string(have) + " follow the header");
    c.out(0).dtype = dtype_ == DType::none ? h.dtype : dtype_;
    c.out(0).shape = h.shape;
    c.out(0).layout = {};
  }

  // The elements one after the other: the right way round, of the right type, and in the right order.
  void run(const Context& c) const override {
    const NpyHeader& h = c.param<NpyHeader>();
    const Tensor& out = c.out(0);
    const int n = h.shape.ndim;
    const auto count = size_t(h.shape.volume());
    if (count == 0) return;
    Tensor now = out;
    now.dtype = h.dtype;
    now.data = c.in(0).as<uint8_t>() + h.begin;
    const bool turned = h.fortran && n > 1;
    if (h.swapped || uintptr_t(now.data) % size_of(h.dtype)) {     // headers of others may have any length
      void* own = now.dtype == out.dtype && !turned ? out.data : c.scratch->take(h.bytes());
      std::memcpy(own, now.data, h.bytes());
      if (h.swapped) swap_bytes(own, size_of(h.dtype), count);
      now.data = own;
    }
    if (now.dtype != out.dtype) {
      void* to = turned ? c.scratch->take(out.bytes()) : out.data;
      converter(now.dtype, out.dtype)(now.data, to, count);
      now.data = to;
      now.dtype = out.dtype;
    }
    if (turned) {
      int backwards[kMaxDims];
      for (int i = 0; i < n; i++) backwards[i] = n - 1 - i, now.shape[i] = h.shape[n - 1 - i];
      detail::transpose(now, backwards, out.data);
    } else if (now.data != out.data) {
      std::memcpy(out.data, now.data, out.bytes());
    }
  }

 private:
  DType dtype_;
};

PS_OPERATOR("decode_numpy", DecodeNumpy)

}  // namespace
}  // namespace ps
