// Pictures read where tensors say.

#include "device/geometry/remap.h"

#include "ops/geometry/sample/operator.h"

namespace ps {

class Remap : public SampleOperator<device::RemapMap> {
 public:
  static constexpr Count kInputs{3, 3};
  explicit Remap(const Spec& s)
      : SampleOperator(sample_taps(s.integer("interp")), device::kLeftOut, PS_DEVICE_TYPE(RemapMap),
                       "device/geometry/remap.h"),
        origin_(s.string("pixel_origin") == "corner" ? 0.5f : 0.0f) {}

 protected:
  void find_size(const Context& c, const Planes& p, int64_t* size) const override {
    for (int i = 1; i < 3; i++) {
      const Tensor& t = c.in(i);
      const int first = frames(t, p) ? 1 : 0;
      const int n = t.shape.ndim - first;
      const char* name = i == 1 ? "mapx" : "mapy";
      if (t.dtype != DType::f32)
        fail(ErrorKind::type, std::string(name) + " is " + name_of(t.dtype) + ": expected FLOAT");
      if (n < 2 || n > 3 || (n == 3 && t.shape[first + 2] != 1))
        fail(ErrorKind::argument, std::string(name) + " has the shape " + to_string(t.shape) +
                                      ": expected height and width");
      if (first && t.shape[0] != p.frames)
        fail(ErrorKind::argument, std::string(name) + " is given for " + std::to_string(t.shape[0]) +
                                      " frames, but the input has " +
                                      (p.frames < 0 ? "no frames" : std::to_string(p.frames)));
      if (i == 2 && (t.shape[first] != size[0] || t.shape[first + 1] != size[1]))
        fail(ErrorKind::argument, "mapx and mapy differ in their extents: " + to_string(c.in(1).shape) + " and " +
                                      to_string(t.shape));
      size[0] = t.shape[first], size[1] = t.shape[first + 1];
    }
  }
  std::vector<float> fills(const Context&, const Planes& p) const override {
    return std::vector<float>(size_t(p.per_frame * p.channels), 0.0f);
  }
  device::RemapMap map(const Context& c, const Planes& q, std::vector<float>&) const override {
    const int64_t plane = q.height * q.width;
    return {c.in(1).as<float>(), c.in(2).as<float>(), frames(c.in(1), q) ? plane : 0, frames(c.in(2), q) ? plane : 0,
            int32_t(q.width), origin_};
  }
  device::RemapMap map_there(const Context& c, gpu::Recorder&, const Planes& q) const override {
    std::vector<float> none;
    return map(c, q, none);
  }

 private:
  // Whether it has a map of each frame; without a layout, an axis too many says so.
  static bool frames(const Tensor& t, const Planes& p) {
    if (!t.layout.empty()) return t.layout.axes[0] == 'F';
    return p.frames >= 0 && (t.shape.ndim == 4 || (t.shape.ndim == 3 && t.shape[2] != 1));
  }

  float origin_;
};

PS_OPERATOR("remap", Remap)

}  // namespace ps
