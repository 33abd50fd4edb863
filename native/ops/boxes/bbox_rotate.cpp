// Boxes of pictures that are rotated.
#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "core/operator.h"
#include "ops/geometry/rotated_extents.h"

namespace ps {

class BboxRotate : public Operator {
 public:
  static constexpr Count kInputs{1, 2}, kOutputs{1, 2};
  explicit BboxRotate(const Spec& s)
      : angle_(s.arg<float>("angle")), in_(s.arg<int64_t>("input_shape")), size_(s.arg<double>("size")),
        width_and_height_(s.string("bbox_layout") == "xyWH"), shares_(s.flag("bbox_normalized")),
        keep_size_(s.flag("keep_size")), least_(float(s.number("remove_threshold"))), mode_(s.string("mode")) {
    const std::string layout = s.string("shape_layout");
    for (int j = 0; j < 2; j++) axis_[j] = int64_t(layout.find("WH"[j]));
  }

  void setup(const Context& c) const override {
    const Tensor& boxes = c.in(0);
    if (boxes.dtype != DType::f32)
      fail(ErrorKind::type, std::string("expected boxes of FLOAT, got ") + name_of(boxes.dtype));
    if (boxes.shape.ndim != 2 || boxes.shape[1] != 4)
      fail(ErrorKind::type, "expected boxes of the shape (boxes, 4), got " + to_string(boxes.shape));
    if (c.num_inputs > 1) check_labels(c.in(1), boxes.shape[0]);
    const auto kept = int64_t(turned(c).size());
    for (int i = 0; i < c.num_inputs; i++) {
      c.out(i).dtype = c.in(i).dtype;
      c.out(i).shape = c.in(i).shape;
      c.out(i).shape[0] = kept;
      c.out(i).layout = {};
    }
  }

  void run(const Context& c) const override {
    float* to = c.out(0).as<float>();
    int64_t at = 0;
    for (const Turned& box : turned(c)) {
      std::copy_n(box.numbers, 4, to + 4 * at);
      if (c.num_inputs > 1) c.out(1).as<int32_t>()[at] = c.in(1).as<int32_t>()[box.index];
      at++;
    }
  }

 private:
  struct Turned {
    int64_t index;
    float numbers[4];
  };
  // What is done to each box; the first of two numbers is x's, the second y's.
  struct Turn {
    float cosine, sine;
    float middle[2], scale[2];         // of the picture: what is subtracted, and pixels in a unit of boxes
    float out[2];                      // the rotated picture's extents
  };

  static void check_labels(const Tensor& labels, int64_t boxes) {
    if (labels.dtype != DType::i32)
      fail(ErrorKind::type, std::string("expected labels of INT32, got ") + name_of(labels.dtype));
    const Shape& shape = labels.shape;
    if (!(shape.ndim == 1 || (shape.ndim == 2 && shape[1] == 1)))
      fail(ErrorKind::type, "expected labels of the shape (boxes,) or (boxes, 1), got " + to_string(shape));
    if (shape[0] != boxes)
      fail(ErrorKind::argument,
           "there are " + std::to_string(shape[0]) + " labels for " + std::to_string(boxes) + " boxes");
  }

  Turn turn(const Context& c) const {
    const float degrees = angle_.get(c);
    if (!std::isfinite(degrees)) fail(ErrorKind::argument, "angle is " + std::to_string(degrees));
    int64_t in[2], out[2];
    for (int j = 0; j < 2; j++) {
      if (axis_[j] >= in_.size(c))
        fail(ErrorKind::argument,
             "input_shape has " + std::to_string(in_.size(c)) + " values, fewer than shape_layout");
      out[j] = in[j] = in_.get(c, axis_[j]);
      if (in[j] < 0) fail(ErrorKind::argument, "input_shape has the negative extent " + std::to_string(in[j]));
    }
    const int64_t sizes = size_.size(c);
    if (sizes != 0 && sizes != 2)
      fail(ErrorKind::argument, "size has " + std::to_string(sizes) + " values; expected height and width");
    float m[4];
    rotation_matrix(in_radians(degrees), m);
    Turn t{m[0], m[2], {}, {}, {}};
    if (!keep_size_ && !sizes) rotated_extents(in_radians(degrees), in, out);
    for (int j = 0; j < 2; j++) {
      t.middle[j] = shares_ ? 0.5f : float(in[j]) / 2;
      t.scale[j] = shares_ ? float(in[j]) : 1.0f;
      t.out[j] = sizes ? float(std::trunc(size_.get(c, 1 - j))) : float(out[j]);
    }
    return t;
  }

  std::vector<Turned> turned(const Context& c) const {
    const Turn t = turn(c);
    std::vector<Turned> kept;
    for (int64_t i = 0; i < c.in(0).shape[0]; i++) {
      Turned box{i, {}};
      std::copy_n(c.in(0).as<float>() + 4 * i, 4, box.numbers);
      if (rotate(t, box.numbers)) kept.push_back(box);
    }
    return kept;
  }

  // Of the box: false where too little is left. Rounded as DALI rounds it.
  bool rotate(const Turn& t, float* box) const {
    float low[2], high[2];                           // of the box around the four corners, at first unturned
    for (int j = 0; j < 2; j++) {
      const float end = width_and_height_ ? box[j] + box[j + 2] : box[j + 2];
      low[j] = (box[j] - t.middle[j]) * t.scale[j];
      high[j] = (end - t.middle[j]) * t.scale[j];
      if (std::isnan(low[j]) || std::isnan(high[j])) return false;
    }
    float own[2] = {high[0] - low[0], high[1] - low[1]};
    turn_corners(t, low, high);
    if (mode_ != "expand") {
      const bool wide = own[0] < own[1], now_wide = high[0] - low[0] < high[1] - low[1];
      if (wide != now_wide) std::swap(own[0], own[1]);
      for (int j = 0; j < 2; j++) {
        float margin = (high[j] - low[j] - own[j]) * 0.5f;
        if (mode_ == "halfway") margin *= 0.5f;
        low[j] += margin;
        high[j] -= margin;
      }
    }
    const float whole = (high[0] - low[0]) * (high[1] - low[1]);
    for (int j = 0; j < 2; j++) {
      low[j] = std::min(std::max(low[j], 0.0f), t.out[j]);
      high[j] = std::min(std::max(high[j], 0.0f), t.out[j]);
    }
    const float left = (high[0] - low[0]) * (high[1] - low[1]);
    for (int j = 0; j < 2; j++) {
      const float unit = shares_ ? 1 / t.out[j] : 1.0f;
      box[j] = low[j] * unit;
      box[j + 2] = (width_and_height_ ? high[j] - low[j] : high[j]) * unit;
    }
    return left / whole >= least_;                   // not for a box without an area
  }

  static void turn_corners(const Turn& t, float* low, float* high) {
    const float xs[2] = {low[0], high[0]}, ys[2] = {low[1], high[1]};
    for (int k = 0; k < 4; k++) {
      const float x = xs[k % 2], y = ys[k / 2];
      const float corner[2] = {t.cosine * x + t.sine * y + t.out[0] / 2, -t.sine * x + t.cosine * y + t.out[1] / 2};
      for (int j = 0; j < 2; j++) {
        low[j] = k ? std::min(low[j], corner[j]) : corner[j];
        high[j] = k ? std::max(high[j], corner[j]) : corner[j];
      }
    }
  }

  Arg<float> angle_;
  Arg<int64_t> in_;
  Arg<double> size_;
  int64_t axis_[2];                    // of W and H in input_shape
  bool width_and_height_, shares_, keep_size_;
  float least_;
  std::string mode_;
};

PS_OPERATOR("bbox_rotate", BboxRotate)

}  // namespace ps
