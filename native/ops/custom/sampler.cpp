// Operators of others' libraries that move pixels: as built-in ones, they are stages of row pipelines and of the GPU's
// chains. The library's function says where the pixels of a row are.

#include <cstring>

#include "device/custom/sampler.h"
#include "ops/custom/device_text.h"
#include "ops/custom/instance.h"
#include "ops/custom/operators.h"
#include "ops/geometry/displace/operator.h"

namespace ps::custom {
namespace {

// The functor, of which the host has the bytes alone.
struct Map : device::CustomMapBytes {
  device::Position<2> position(int, int) const { return {}; }   // the library's positions() are asked
};

class Sampler : public DisplaceOperator<Map> {
 public:
  Sampler(const penstock_operator& op, const Spec& spec)
      : DisplaceOperator(spec, op.device_source ? map_type(op) : std::string(), "device/custom/sampler.h"),
        instance_(op, spec) {}

  size_t params_size() const override { return instance_.op.params_bytes; }
  Functor stage(const Context& c) const override {
    Functor f = DisplaceOperator::stage(c);
    f.text = device_text(instance_.op);
    return f;
  }

 protected:
  void check(const Context& c) const override {
    const Tensor &in = c.in(0), &out = c.out(0);
    const Layout layout = out.layout;
    SampleView view;
    instance_.setup(c, view);
    if (!(out.shape == in.shape && out.layout == layout && out.dtype == in.dtype))
      fail(ErrorKind::internal, "its setup() gives the output another shape, layout or type than the input has");
  }
  Map map(const Context& c) const override {
    Map m{};
    std::memcpy(m.bytes, c.params, params_size());
    return m;
  }
  void positions(const Map& map, const std::vector<float>&, int64_t y, int64_t x, size_t n, float* x_to,
                 float* y_to) const override {
    instance_.op.positions(map.bytes, x, y, int64_t(n), x_to, y_to);
  }

 private:
  static std::string map_type(const penstock_operator& op) {
    return PS_DEVICE_TEMPLATE(CustomMap, void).of(device_type(op));
  }

  Instance instance_;
};

}  // namespace

std::unique_ptr<Operator> make_sampler(const penstock_operator& op, const Spec& spec) {
  return std::make_unique<Sampler>(op, spec);
}

}  // namespace ps::custom
