// Pictures and volumes under an affine map of their positions.
#include "ops/geometry/warp/operator.h"

namespace ps {

class WarpAffine : public WarpOperator {
 public:
  static constexpr Count kInputs{1, 2};
  explicit WarpAffine(const Spec& s)
      : WarpOperator(s), matrix_(s, "matrix"), as_input_(s.num_inputs > 1), inverse_(s.flag("inverse_map")) {}

 protected:
  void find_size(const Context&, const WarpSpace&, Shape&) const override {}

  void check(const Context& c, const WarpSpace& space) const override {
    const int64_t n = space.count * (space.count + 1), frames = space.frames ? c.in(0).shape[0] : -1;
    if (!as_input_ && matrix_.frames(c) < 0 && matrix_.size(c) == 0)
      fail(ErrorKind::argument, "matrix is required, unless it is the second input");
    if (!as_input_) return matrix_.expect(c, n, frames);
    const Tensor& m = c.in(1);
    const bool each = has_frames(&m);
    const int first = each ? 1 : 0;
    if (m.dtype != DType::f32 || m.shape.ndim != first + 2 || m.shape[first] != space.count ||
        m.shape[first + 1] != space.count + 1)
      fail(ErrorKind::argument, "the second input must be a matrix of FLOAT and of shape " +
                                    to_string(Shape{space.count, space.count + 1}) + ", got " + name_of(m.dtype) +
                                    " and the shape " + to_string(m.shape));
    if (each && m.shape[0] != frames)
      fail(ErrorKind::argument, "there are matrices for " + std::to_string(m.shape[0]) + " frames, but the input has " +
                                    (frames < 0 ? "no frames" : std::to_string(frames)));
  }

  bool by_frame(const Context& c) const override { return as_input_ ? has_frames(&c.in(1)) : matrix_.frames(c) >= 0; }

  void map(const Context& c, const WarpSpace& space, int64_t frame, float* to) const override {
    const int n = space.count * (space.count + 1);
    if (as_input_) std::copy_n(c.in(1).as<float>() + (by_frame(c) ? frame * n : 0), n, to);
    else matrix_.list(c, frame, n, to);
    if (inverse_) return;
    if (space.count == 2) invert<2>(to);
    else invert<3>(to);
  }

  const float* map_there(const Context& c, const WarpSpace& space, int64_t frame) const override {
    if (!as_input_) return nullptr;
    return c.in(1).as<float>() + (by_frame(c) ? frame * space.count * (space.count + 1) : 0);
  }
  bool map_there_is_forward() const override { return !inverse_; }

 private:
  template <int D> static void invert(float* matrix) {
    device::AffineMatrix<D> m;
    std::copy_n(matrix, D * (D + 1), m.v);
    const float det = device::determinant(m);
    if (det == 0 || !std::isfinite(det))
      fail(ErrorKind::argument,
           "inverse_map=False: the matrix has no inverse, its determinant is " + std::to_string(det));
    m = device::inverse(m);
    std::copy_n(m.v, D * (D + 1), matrix);
  }

  FrameArg matrix_;
  bool as_input_, inverse_;
};

PS_OPERATOR("warp_affine", WarpAffine)

}  // namespace ps
