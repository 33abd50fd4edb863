// Affine transforms as matrices of D rows and D + 1 columns: the last column is the offset.
#include <algorithm>
#include <cmath>
#include <vector>

#include "core/operator.h"
#include "ops/arguments/frames.h"
#include "ops/geometry/rotation_matrix.h"

namespace ps {

inline constexpr int kMostTransformAxes = 6;

struct Transform {
  int axes;
  float v[kMostTransformAxes][kMostTransformAxes + 1] = {};

  explicit Transform(int n) : axes(n) {
    for (int i = 0; i < n; i++) v[i][i] = 1;
  }
  // The linear part is there: it is to leave a point where it is.
  void keep(const float* center) {
    for (int i = 0; i < axes; i++) {
      float moved = 0;
      for (int k = 0; k < axes; k++) moved += v[i][k] * center[k];
      v[i][axes] = center[i] - moved;
    }
  }
  // First the other one, then this one.
  Transform operator*(const Transform& first) const {
    Transform r(axes);
    for (int i = 0; i < axes; i++)
      for (int j = 0; j <= axes; j++) {
        float sum = 0;
        for (int k = 0; k < axes; k++) sum += v[i][k] * first.v[k][j];
        r.v[i][j] = j == axes ? sum + v[i][axes] : sum;
      }
    return r;
  }
  static Transform read(const float* from, int n) {
    Transform r(n);
    for (int i = 0; i < n; i++) std::copy_n(from + i * (n + 1), n + 1, r.v[i]);
    return r;
  }
  void write(float* to) const {
    for (int i = 0; i < axes; i++) std::copy_n(v[i], axes + 1, to + i * (axes + 1));
  }
};

// What all of them have in common: the axes, the frames, and the transforms that come as inputs.
class TransformOperator : public Operator {
 public:
  static constexpr Count kInputs{0, 1};
  explicit TransformOperator(const Spec& s) : reverse_(s.flag("reverse_order")) {}

  void setup(const Context& c) const final {
    int64_t frames = -1;
    bool sequence = false;
    for (const FrameArg* a : arguments()) {
      join(frames, a->frames(c), a->name());
      sequence |= a->has_frames(c);
    }
    int n = 0;
    for (int i = 0; i < c.num_inputs; i++) {
      const int axes = axes_of(c.in(i));
      if (n && axes != n) fail_axes("the inputs have", n, axes);
      n = axes;
      join(frames, has_frames(&c.in(i)) ? c.in(i).shape[0] : -1, "an input");
    }
    if (sequence && frames < 0) frames = 1;
    const int64_t own = axes(c, n);
    if (own < 1 || own > kMostTransformAxes)
      fail(ErrorKind::argument,
           "expected 1 to " + std::to_string(kMostTransformAxes) + " axes, got " + std::to_string(own));
    if (n && own != n) fail_axes("the input and the arguments have", n, int(own));
    Tensor& out = c.out(0);
    out.dtype = DType::f32;
    out.shape = {};
    if (frames >= 0) out.shape.push(frames);
    out.shape.push(own);
    out.shape.push(own + 1);
    out.layout = frames >= 0 ? "F**" : "**";         // as DALI has it
  }

  void run(const Context& c) const final {
    const Shape& s = c.out(0).shape;
    const int64_t frames = s.ndim == 3 ? s[0] : 1;
    const int n = int(s[s.ndim - 2]);
    float* to = c.out(0).as<float>();
    for (int64_t f = 0; f < frames; f++, to += n * (n + 1)) result(c, n, f).write(to);
  }

 protected:
  // Arguments that may differ from frame to frame.
  virtual std::vector<const FrameArg*> arguments() const { return {}; }
  // How many axes the arguments imply; `given` is that of the inputs, or 0.
  virtual int64_t axes(const Context& c, int given) const = 0;
  virtual Transform make(const Context& c, int n, int64_t frame) const = 0;

  virtual Transform result(const Context& c, int n, int64_t frame) const {
    const Transform own = make(c, n, frame);
    if (!c.num_inputs) return own;
    return reverse_ ? input(c, 0, n, frame) * own : own * input(c, 0, n, frame);
  }
  static Transform input(const Context& c, int i, int n, int64_t frame) {
    return Transform::read(c.in(i).as<float>() + (has_frames(&c.in(i)) ? frame * n * (n + 1) : 0), n);
  }
  bool reverse() const { return reverse_; }
  // Leaves `center` where it is, if that is given.
  static void center(const Context& c, const FrameArg& argument, int64_t frame, Transform& t) {
    if (!argument.given()) return;
    float at[kMostTransformAxes];
    argument.list(c, frame, t.axes, at);
    t.keep(at);
  }

 private:
  static void join(int64_t& frames, int64_t more, const char* name) {
    if (more >= 0 && frames >= 0 && more != frames)
      fail(ErrorKind::argument, std::string(name) + " has " + std::to_string(more) + " frames, but another " +
                                    std::to_string(frames));
    frames = std::max(frames, more);
  }
  [[noreturn]] static void fail_axes(const char* who, int a, int b) {
    fail(ErrorKind::argument, std::string(who) + " different numbers of axes: " + std::to_string(a) + " and " +
                                  std::to_string(b));
  }
  static int axes_of(const Tensor& t) {
    const int first = has_frames(&t) ? 1 : 0;
    if (t.dtype != DType::f32 || t.shape.ndim != first + 2 || t.shape[first + 1] != t.shape[first] + 1 ||
        t.shape[first] < 1 || t.shape[first] > kMostTransformAxes)
      fail(ErrorKind::argument, std::string("expected matrices of FLOAT with n rows and n + 1 columns, got ") +
                                    name_of(t.dtype) + " and the shape " + to_string(t.shape));
    return int(t.shape[first]);
  }

  bool reverse_;
};

class Translation : public TransformOperator {
 public:
  explicit Translation(const Spec& s) : TransformOperator(s), offset_(s, "offset") {}

 protected:
  std::vector<const FrameArg*> arguments() const override { return {&offset_}; }
  int64_t axes(const Context& c, int) const override { return offset_.size(c); }
  Transform make(const Context& c, int n, int64_t frame) const override {
    Transform t(n);
    for (int i = 0; i < n; i++) t.v[i][n] = offset_.get(c, frame, i);
    return t;
  }

 private:
  FrameArg offset_;
};

class Scaling : public TransformOperator {
 public:
  explicit Scaling(const Spec& s)
      : TransformOperator(s), scale_(s, "scale"), center_(s, "center"), ndim_(s.find("ndim") ? s.integer("ndim") : 0) {}

 protected:
  std::vector<const FrameArg*> arguments() const override { return {&scale_, &center_}; }
  int64_t axes(const Context& c, int given) const override {
    const int64_t n = scale_.size(c);
    return n != 1 ? n : given ? given : ndim_ > 0 ? ndim_ : 1;
  }
  Transform make(const Context& c, int n, int64_t frame) const override {
    Transform t(n);
    float scale[kMostTransformAxes];
    scale_.list(c, frame, n, scale);
    for (int i = 0; i < n; i++) t.v[i][i] = scale[i];
    if (!center_.given()) return t;
    float center[kMostTransformAxes];
    center_.list(c, frame, n, center);
    for (int i = 0; i < n; i++) t.v[i][n] = center[i] * (1 - scale[i]);   // rounded once, as DALI's
    return t;
  }

 private:
  FrameArg scale_, center_;
  int64_t ndim_;
};

class Rotation : public TransformOperator {
 public:
  explicit Rotation(const Spec& s)
      : TransformOperator(s), angle_(s, "angle"), axis_(s, "axis"), center_(s, "center") {}

 protected:
  std::vector<const FrameArg*> arguments() const override { return {&angle_, &axis_, &center_}; }
  int64_t axes(const Context&, int) const override { return axis_.given() ? 3 : 2; }
  Transform make(const Context& c, int n, int64_t frame) const override {
    Transform t(n);
    float angle, axis[3], turn[9];
    angle_.list(c, frame, 1, &angle);
    if (n == 2) {
      rotation_matrix(in_radians(angle), turn);
    } else {
      axis_.list(c, frame, 3, axis);
      rotation_matrix(in_radians(angle), axis, turn);
    }
    for (int i = 0; i < n; i++) std::copy_n(turn + i * n, n, t.v[i]);
    center(c, center_, frame, t);
    return t;
  }

 private:
  FrameArg angle_, axis_, center_;
};

class Shear : public TransformOperator {
 public:
  explicit Shear(const Spec& s)
      : TransformOperator(s), shear_(s, "shear"), angles_(s, "angles"), center_(s, "center") {}

 protected:
  std::vector<const FrameArg*> arguments() const override { return {&shear_, &angles_, &center_}; }
  int64_t axes(const Context& c, int) const override {
    const FrameArg& given = shear_.given() ? shear_ : angles_;
    const int64_t n = given.size(c) == 2 ? 2 : given.size(c) == 6 ? 3 : 0;
    if (!n)
      fail(ErrorKind::argument, std::string(given.name()) + " has " + std::to_string(given.size(c)) +
                                    " values: expected 2, or 6 in space");
    return n;
  }
  Transform make(const Context& c, int n, int64_t frame) const override {
    Transform t(n);
    for (int i = 0, at = 0; i < n; i++)
      for (int k = 0; k < n; k++)
        if (k != i) t.v[i][k] = factor(c, frame, at++);
    center(c, center_, frame, t);
    return t;
  }

 private:
  float factor(const Context& c, int64_t frame, int i) const {
    if (shear_.given()) return shear_.get(c, frame, i);
    const float degrees = angles_.get(c, frame, i);
    if (!(std::fabs(degrees) <= 90))
      fail(ErrorKind::argument, "angles: " + std::to_string(degrees) + " is not between -90 and 90");
    return std::tan(in_radians(degrees));
  }

  FrameArg shear_, angles_, center_;
};

class CropTransform : public TransformOperator {
 public:
  explicit CropTransform(const Spec& s)
      : TransformOperator(s), from_start_(s, "from_start"), from_end_(s, "from_end"), to_start_(s, "to_start"),
        to_end_(s, "to_end"), absolute_(s.flag("absolute")) {}

 protected:
  std::vector<const FrameArg*> arguments() const override { return {&from_start_, &from_end_, &to_start_, &to_end_}; }
  int64_t axes(const Context& c, int) const override {
    int64_t n = 1;
    for (const FrameArg* a : arguments()) n = std::max(n, a->size(c));
    return n;
  }
  Transform make(const Context& c, int n, int64_t frame) const override {
    Transform t(n);
    float from[2][kMostTransformAxes], to[2][kMostTransformAxes];
    from_start_.list(c, frame, n, from[0]);
    from_end_.list(c, frame, n, from[1]);
    to_start_.list(c, frame, n, to[0]);
    to_end_.list(c, frame, n, to[1]);
    for (int i = 0; i < n; i++) {
      if (absolute_ && from[0][i] > from[1][i]) std::swap(from[0][i], from[1][i]);
      if (absolute_ && to[0][i] > to[1][i]) std::swap(to[0][i], to[1][i]);
      t.v[i][i] = (to[1][i] - to[0][i]) / (from[1][i] - from[0][i]);
      t.v[i][n] = to[0][i] - t.v[i][i] * from[0][i];
    }
    return t;
  }

 private:
  FrameArg from_start_, from_end_, to_start_, to_end_;
  bool absolute_;
};

class Combination : public TransformOperator {
 public:
  static constexpr Count kInputs{2, kMany};
  using TransformOperator::TransformOperator;

 protected:
  int64_t axes(const Context&, int given) const override { return given; }
  Transform make(const Context& c, int n, int64_t frame) const override { return input(c, 0, n, frame); }
  Transform result(const Context& c, int n, int64_t frame) const override {
    Transform t = make(c, n, frame);
    for (int i = 1; i < c.num_inputs; i++) {
      const Transform next = input(c, i, n, frame);
      t = reverse() ? t * next : next * t;
    }
    return t;
  }
};

PS_OPERATOR("transforms.translation", Translation)
PS_OPERATOR("transforms.scale", Scaling)
PS_OPERATOR("transforms.rotation", Rotation)
PS_OPERATOR("transforms.shear", Shear)
PS_OPERATOR("transforms.crop", CropTransform)
PS_OPERATOR("transforms.combine", Combination)

}  // namespace ps
