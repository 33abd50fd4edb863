// Pictures under a perspective map of their positions.

#include "device/geometry/warp_perspective.h"

#include <cmath>

#include "core/convert.h"
#include "ops/arguments/frames.h"
#include "ops/geometry/sample/operator.h"

namespace ps {

class WarpPerspective : public SampleOperator<device::PerspectiveMap> {
 public:
  static constexpr Count kInputs{1, 2};
  explicit WarpPerspective(const Spec& s)
      : SampleOperator(sample_taps(s.integer("interp_type")), border(s.string("border_mode")),
                       PS_DEVICE_TYPE(PerspectiveMap), "device/geometry/warp_perspective.h"),
        matrix_(s, "matrix"), size_(s.arg<float>("size")), fill_(s.arg<float>("fill_value")),
        as_input_(s.num_inputs > 1), invert_(!s.flag("inverse_map")), corner_(s.string("pixel_origin") == "corner"),
        nearest_(s.integer("interp_type") == 0) {}

 protected:
  void find_size(const Context& c, const Planes& p, int64_t* size) const override {
    if (as_input_) {
      const Tensor& m = c.in(1);
      const bool each = has_frames(&m);
      const int first = each ? 1 : 0;
      if (m.dtype != DType::f32 || m.shape.ndim != first + 2 || m.shape[first] != 3 || m.shape[first + 1] != 3)
        fail(ErrorKind::argument, std::string("the second input must be a matrix of FLOAT and of shape (3, 3), got ") +
                                      name_of(m.dtype) + " and the shape " + to_string(m.shape));
      if (each && m.shape[0] != p.frames)
        fail(ErrorKind::argument, "there are matrices for " + std::to_string(m.shape[0]) +
                                      " frames, but the input has " +
                                      (p.frames < 0 ? "no frames" : std::to_string(p.frames)));
    } else {
      if (matrix_.frames(c) < 0 && matrix_.size(c) == 0)
        fail(ErrorKind::argument, "matrix is required, unless it is the second input");
      matrix_.expect(c, 9, p.frames);
    }
    if (!size_.given() || size_.size(c) == 0) return;
    const int64_t n = size_.size(c);
    if (n > 2) fail(ErrorKind::argument, "size has " + std::to_string(n) + " values: expected 1 or 2");
    for (int i = 0; i < 2; i++) {
      const float extent = std::round(size_.get(c, n == 1 ? 0 : i));
      if (!(extent >= 1)) fail(ErrorKind::argument, "size: the extent " + std::to_string(extent) + " is not positive");
      size[i] = int64_t(std::min(extent, 1e12f));
    }
  }

  std::vector<float> fills(const Context& c, const Planes& p) const override {
    const int64_t n = fill_.given() ? fill_.size(c) : 0, channels = p.per_frame * p.channels;
    if (n > 1 && n != channels)
      fail(ErrorKind::argument, "fill_value has " + std::to_string(n) + " values for " + std::to_string(channels) +
                                    " channels");
    std::vector<float> found;
    for (int64_t i = 0; i < channels; i++) {
      const float v = n ? fill_.get(c, n == 1 ? 0 : i) : 0;
      visit_sampled(c.in(0).dtype, [&](auto tag) {
        found.push_back(convert<float>(device::even_rounded<typename decltype(tag)::type>(v)));
      });
    }
    return found;
  }

  device::PerspectiveMap map(const Context& c, const Planes& p, std::vector<float>& kept) const override {
    const int64_t all = std::max<int64_t>(by_frame(c) ? p.frames : 1, 0);
    kept.resize(size_t(all) * 9);
    for (int64_t f = 0; f < all; f++) {
      float* m = kept.data() + f * 9;
      if (as_input_) std::copy_n(c.in(1).as<float>() + f * 9, 9, m);
      else matrix_.list(c, f, 9, m);
      device::PerspectiveMap::complete(m, invert_, corner_);
    }
    return {kept.data(), by_frame(c) ? 9 : 0, 0, 0, 0, parts(c)};
  }
  // The same operations, several pixels at a time.
  void find_positions(const device::PerspectiveMap& map, int64_t frame, int first, int y, int n,
                      device::Position<2>* __restrict to) const override {
    float m[9];
    std::copy_n(map.matrices + frame * map.step, 9, m);
    const float v = float(y), dx = m[1] * v, dy = m[4] * v, dw = m[7] * v, parts = map.parts;
    for (int i = 0; i < n; i++) {
      const float u = float(first + i), w = (m[6] * u + dw) + m[8];
      to[i] = {{((m[0] * u + dx) + m[2]) / w, ((m[3] * u + dy) + m[5]) / w}};
    }
    if (parts == 0) return;
    for (int i = 0; i < n; i++)
      to[i] = {{device::even_half(to[i].v[0] * parts) / parts, device::even_half(to[i].v[1] * parts) / parts}};
  }
  device::PerspectiveMap map_there(const Context& c, gpu::Recorder& r, const Planes& p) const override {
    if (as_input_) return {c.in(1).as<float>(), by_frame(c) ? 9 : 0, 1, invert_, corner_, parts(c)};
    std::vector<float> kept;
    device::PerspectiveMap made = map(c, p, kept);
    made.matrices = static_cast<const float*>(r.constant(kept.data(), kept.size() * sizeof(float)));
    return made;
  }

 private:
  static int32_t border(const std::string& name) {
    return name == "replicate" ? device::kReplicated : name == "reflect" ? device::kReflected1001
           : name == "reflect_101" ? device::kReflected101 : name == "wrap" ? device::kWrapped : device::kLeftOut;
  }
  // OpenCV reads INT16 at positions that are rounded so.
  float parts(const Context& c) const { return c.in(0).dtype == DType::i16 && !nearest_ ? 32.0f : 0.0f; }
  bool by_frame(const Context& c) const { return as_input_ ? has_frames(&c.in(1)) : matrix_.frames(c) >= 0; }

  FrameArg matrix_;
  Arg<float> size_, fill_;
  bool as_input_, invert_, corner_, nearest_;
};

PS_OPERATOR("warp_perspective", WarpPerspective)

}  // namespace ps
