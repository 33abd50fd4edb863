// Pictures turned about their centre, and volumes about an axis through it.
#include <cmath>

#include "ops/geometry/warp/operator.h"
#include "ops/geometry/rotated_extents.h"
#include "ops/geometry/rotation_matrix.h"

namespace ps {

class Rotate : public WarpOperator {
 public:
  explicit Rotate(const Spec& s)
      : WarpOperator(s), angle_(s, "angle"), axis_(s, "axis"), keep_size_(s.flag("keep_size")) {}

 protected:
  void find_size(const Context& c, const WarpSpace& space, Shape& out) const override {
    if (keep_size_) return;
    check(c, space);                               // before values are looked at
    int64_t in[3], most[3] = {}, odd[3] = {};
    space.extents(c.in(0).shape, in);
    const int64_t frames = by_frame(c) ? space.frame_count(c.in(0).shape) : 1;
    for (int64_t f = 0; f < frames; f++) {
      int64_t least[3], like[3];
      if (space.count == 2) rotated_extents(radians(c, f), in, least, like);
      else canvas_of_volume(c, f, in, least, like);
      for (int d = 0; d < space.count; d++) most[d] = std::max(most[d], least[d]), odd[d] += like[d] & 1;
    }
    for (int d = 0; d < space.count; d++)            // of frames' parities, that of most
      out[space.first + space.count - 1 - d] = with_parity_of(most[d], 2 * odd[d] > frames);
  }

  void check(const Context& c, const WarpSpace& space) const override {
    const int64_t frames = space.frames ? c.in(0).shape[0] : -1;
    angle_.expect(c, 1, frames);
    if (space.count != 3) return;
    if (!axis_.given()) fail(ErrorKind::argument, "axis is required for volumes");
    axis_.expect(c, 3, frames);
  }

  bool by_frame(const Context& c) const override { return angle_.frames(c) >= 0 || axis_.frames(c) >= 0; }

  void map(const Context& c, const WarpSpace& space, int64_t frame, float* to) const override {
    const int n = space.count;
    float turn[9];
    if (n == 2) turn_picture(c, frame, turn);
    else turn_volume(c, frame, turn);
    int64_t in[3], out[3];
    space.extents(c.in(0).shape, in);
    space.extents(c.out(0).shape, out);
    for (int i = 0; i < n; i++) {
      float sum = 0;                               // of the output's centre, which goes to the input's
      for (int k = 0; k < n; k++) {
        const float part = to[i * (n + 1) + k] = turn[i * n + k];
        const float product = part * (float(out[k]) * 0.5f);
        sum = k ? sum + product : product;
      }
      to[i * (n + 1) + n] = float(in[i]) * 0.5f - sum;
    }
  }

 private:
  float radians(const Context& c, int64_t frame) const {
    const float degrees = angle_.get(c, frame);
    if (!std::isfinite(degrees)) fail(ErrorKind::argument, "angle is " + std::to_string(degrees));
    return in_radians(degrees);
  }
  void turn_picture(const Context& c, int64_t frame, float* to) const { rotation_matrix(radians(c, frame), to); }
  void turn_volume(const Context& c, int64_t frame, float* to) const {
    float axis[3];
    axis_.list(c, frame, 3, axis);
    rotation_matrix(-radians(c, frame), axis, to);  // from the output to the input
  }

  void canvas_of_volume(const Context& c, int64_t frame, const int64_t* in, int64_t* least, int64_t* like) const {
    float m[9];
    turn_volume(c, frame, m);
    for (int i = 0; i < 3; i++) {
      float sum = 0;
      int dominant = i;
      for (int k = 0; k < 3; k++) {
        const float part = std::fabs(m[k * 3 + i]);              // the matrix the other way round
        sum += part * float(in[k]);
        if (part > std::fabs(m[dominant * 3 + i])) dominant = k;
      }
      least[i] = int64_t(std::max(std::ceil(sum - kCanvasSlack), 0.0f));
      like[i] = in[dominant];
    }
  }

  FrameArg angle_, axis_;
  bool keep_size_;
};

PS_OPERATOR("rotate", Rotate)

}  // namespace ps
