// A random window that has as much of the boxes as is wanted.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "core/operator.h"
#include "ops/boxes/random_bbox_crop/boxes.h"

namespace ps {

class RandomBboxCrop : public Operator {
 public:
  static constexpr Count kInputs{1, 2}, kOutputs{3, 5};
  explicit RandomBboxCrop(const Spec& s)
      : crop_(s.arg<int64_t>("crop_shape")), in_(s.arg<int64_t>("input_shape")), layout_(s.string("bbox_layout")),
        shape_layout_(s.string("shape_layout")), corners_(s.flag("ltrb")), ratios_(s.get("aspect_ratio").numbers),
        scaling_(s.get("scaling").numbers), thresholds_(s.get("thresholds").numbers),
        attempts_(s.integer("num_attempts")),
        most_(s.find("total_num_attempts") ? s.integer("total_num_attempts") : 0),
        prune_(s.find("bbox_prune_threshold") ? float(s.number("bbox_prune_threshold")) : -1),
        all_(s.flag("all_boxes_above_threshold")), whole_too_(s.flag("allow_no_crop")),
        iou_(s.string("threshold_type") == "iou"), indices_(s.flag("output_bbox_indices")) {}

  void setup(const Context& c) const override {
    const std::vector<AxisBox> boxes = read(c);
    const int axes = axes_of(c);
    Found found = search(c, boxes, axes);
    auto* kept = static_cast<int32_t*>(c.lasting->take(found.kept.size() * sizeof(int32_t)));
    std::copy(found.kept.begin(), found.kept.end(), kept);
    c.param<Params>() = {found.window, found.whole, kept, int64_t(found.kept.size())};
    for (int i = 0; i < c.num_outputs; i++) {
      c.out(i).dtype = DType::f32;
      c.out(i).shape = {axes};
      c.out(i).layout = {};
    }
    const auto n = int64_t(found.kept.size());
    c.out(2).shape = {n, 2 * axes};
    if (c.num_inputs > 1) {
      c.out(3).dtype = c.in(1).dtype;
      c.out(3).shape = c.in(1).shape;
      c.out(3).shape[0] = n;
    }
    if (indices_) {
      c.out(c.num_outputs - 1).dtype = DType::i32;
      c.out(c.num_outputs - 1).shape = {n};
    }
  }

  void run(const Context& c) const override {
    const Params& p = c.param<Params>();
    const int axes = axes_of(c);
    for (int k = 0; k < axes; k++) {
      const float extent = crop_.given() ? float(extents(c, in_, "input_shape", axes)[k]) : 1.0f;
      const float low = p.window.low[k] * extent;
      c.out(0).as<float>()[k] = crop_.given() ? std::round(low) : low;
      c.out(1).as<float>()[k] =
          crop_.given() ? float(extents(c, crop_, "crop_shape", axes)[k]) : p.window.high[k] - p.window.low[k];
    }
    write_boxes(c, p, axes);
    if (c.num_inputs > 1 && p.count) {
      const Tensor& labels = c.in(1);
      const size_t bytes = labels.bytes() / size_t(labels.shape[0]);
      for (int64_t i = 0; i < p.count; i++)
        std::memcpy(c.out(3).as<uint8_t>() + size_t(i) * bytes, labels.as<uint8_t>() + size_t(p.kept[i]) * bytes,
                    bytes);
    }
    if (indices_) std::copy_n(p.kept, p.count, c.out(c.num_outputs - 1).as<int32_t>());
  }

  size_t params_size() const override { return sizeof(Params); }
  // That setup() has drawn, in shares of the picture.
  static const AxisBox& window_of(const Context& c) { return c.param<Params>().window; }

 private:
  struct Params {
    AxisBox window;
    bool whole;                        // the picture: boxes stay as they are
    const int32_t* kept;
    int64_t count;
  };
  struct Found {
    AxisBox window;
    bool whole = true;
    std::vector<int32_t> kept;
  };
  static constexpr int64_t kManyAttempts = int64_t(1) << 20;

  static int axes_of(const Context& c) { return int(c.in(0).shape[1] / 2); }

  // Where a box's numbers are: those of its start, axis by axis, then its end or its extents.
  std::vector<int> places(int axes) const {
    const std::string_view letters[2] = {axes == 2 ? "xyXY" : "xyzXYZ", axes == 2 ? "xyWH" : "xyzWHD"};
    const std::string layout = layout_.empty() ? std::string(letters[!corners_]) : layout_;
    if (layout.size() != size_t(2 * axes))
      fail(ErrorKind::argument,
           "bbox_layout='" + layout + "' does not fit boxes of " + std::to_string(2 * axes) + " numbers");
    std::vector<int> found;
    for (char letter : letters[has_extents(layout)]) found.push_back(int(layout.find(letter)));
    return found;
  }
  static bool has_extents(std::string_view layout) { return layout.find('W') != std::string_view::npos; }
  bool has_extents() const { return layout_.empty() ? !corners_ : has_extents(layout_); }

  std::vector<AxisBox> read(const Context& c) const {
    const Tensor& in = c.in(0);
    if (in.dtype != DType::f32) fail(ErrorKind::type, std::string("expected boxes of FLOAT, got ") + name_of(in.dtype));
    if (in.shape.ndim != 2 || (in.shape[1] != 4 && in.shape[1] != 6))
      fail(ErrorKind::type, "expected boxes of the shape (boxes, 4) or (boxes, 6), got " + to_string(in.shape));
    if (c.num_inputs > 1 && (c.in(1).shape.ndim == 0 || c.in(1).shape[0] != in.shape[0]))
      fail(ErrorKind::argument, "there are labels of the shape " + to_string(c.in(1).shape) + " for " +
                                    std::to_string(in.shape[0]) + " boxes");
    const int axes = axes_of(c);
    const std::vector<int> at = places(axes);
    std::vector<AxisBox> boxes(size_t(in.shape[0]));
    for (size_t i = 0; i < boxes.size(); i++) {
      const float* from = in.as<float>() + 2 * size_t(axes) * i;
      for (int k = 0; k < axes; k++) {
        float &low = boxes[i].low[k] = from[at[size_t(k)]], &high = boxes[i].high[k] = from[at[size_t(k + axes)]];
        if (has_extents()) high += low;
        if (!(low >= 0 && low <= 1 && high >= 0 && high <= 1))
          fail(ErrorKind::argument, "box " + std::to_string(i) + " goes from " + std::to_string(low) + " to " +
                                        std::to_string(high) + " along " + "xyz"[k] + "; expected 0 to 1");
      }
    }
    return boxes;
  }

  void write_boxes(const Context& c, const Params& p, int axes) const {
    const std::vector<int> at = places(axes);
    const auto row = size_t(2 * axes);
    for (int64_t i = 0; i < p.count; i++) {
      const float* from = c.in(0).as<float>() + row * size_t(p.kept[i]);
      float* to = c.out(2).as<float>() + row * size_t(i);
      if (p.whole) {
        std::copy_n(from, row, to);
        continue;
      }
      for (int k = 0; k < axes; k++) {
        const auto first = size_t(at[size_t(k)]), second = size_t(at[size_t(k + axes)]);
        const float low = from[first], high = has_extents() ? low + from[second] : from[second];
        const float start = p.window.low[k], extent = p.window.high[k] - start;
        to[first] = std::clamp((low - start) / extent, 0.0f, 1.0f);
        to[second] = std::clamp((high - start) / extent, 0.0f, 1.0f) - (has_extents() ? to[first] : 0.0f);
      }
    }
  }

  // Of x, y and z.
  std::vector<int64_t> extents(const Context& c, const Arg<int64_t>& a, const char* name, int axes) const {
    const std::string letters = std::string("WHD").substr(0, size_t(axes));
    const std::string layout = shape_layout_.empty() ? letters : shape_layout_;
    if (int(layout.size()) != axes || a.size(c) != axes)
      fail(ErrorKind::argument, std::string(name) + " has " + std::to_string(a.size(c)) + " values and shape_layout '" +
                                    layout + "', but boxes have " + std::to_string(axes) + " axes");
    std::vector<int64_t> found;
    for (char letter : letters) {
      found.push_back(a.get(c, int64_t(layout.find(letter))));
      if (found.back() < 0 || (&a == &in_ && found.back() == 0))
        fail(ErrorKind::argument, std::string(name) + " has the extent " + std::to_string(found.back()));
    }
    return found;
  }

  Found search(const Context& c, const std::vector<AxisBox>& boxes, int axes) const {
    Found whole;
    std::fill_n(whole.window.high, axes, 1.0f);
    for (size_t i = 0; i < boxes.size(); i++) whole.kept.push_back(int32_t(i));
    const Draw draw(*this, c, axes);
    Philox random = c.random();
    const size_t choices = thresholds_.size() + (whole_too_ && !crop_.given());
    Found best = whole;
    float best_metric = -1;
    for (int64_t done = 0, left = 0, choice = 0, most = most_ ? most_ : kManyAttempts; done < most; done++, left--) {
      if (left == 0) {
        choice = int64_t(random.below(choices));
        left = attempts_;
        if (choice == int64_t(thresholds_.size())) return whole;
      }
      Found found{{}, false, {}};
      if (!draw.window(random, found.window)) continue;
      for (size_t i = 0; i < boxes.size(); i++)
        if (keeps(found.window, boxes[i], axes)) found.kept.push_back(int32_t(i));
      const float metric = metric_of(found.window, boxes, axes);
      if (metric >= float(thresholds_[size_t(choice)]) && (boxes.empty() || !found.kept.empty())) return found;
      if (metric > best_metric) best_metric = metric, best = found;
    }
    if (!most_)
      fail(ErrorKind::argument, "there is no window as the arguments want it among " + std::to_string(kManyAttempts) +
                                    "; total_num_attempts takes the best of some");
    return best;
  }

  bool keeps(const AxisBox& window, const AxisBox& box, int axes) const {
    return prune_ < 0 ? window.has_middle_of(box, axes) : box.overlap(window, axes) > prune_;
  }

  // The least, or the largest, of all boxes.
  float metric_of(const AxisBox& window, const std::vector<AxisBox>& boxes, int axes) const {
    float found = all_ || boxes.empty() ? 1.0f : 0.0f;
    for (const AxisBox& box : boxes) {
      const float metric = iou_ ? box.iou(window, axes) : box.overlap(window, axes);
      found = all_ ? std::min(found, metric) : std::max(found, metric);
    }
    return found;
  }

  // Draws windows of a picture.
  class Draw {
   public:
    Draw(const RandomBboxCrop& op, const Context& c, int axes) : op_(op), axes_(axes) {
      if (op.in_.given()) in_ = op.extents(c, op.in_, "input_shape", axes);
      if (op.crop_.given()) crop_ = op.extents(c, op.crop_, "crop_shape", axes);
      pairs_ = op.ratios_;
      pairs_.resize(axes == 3 ? 6 : 2);
      if (op.ratios_.size() == 2)
        for (size_t i = 2; i < pairs_.size(); i++) pairs_[i] = pairs_[i - 2];
    }

    // False: its aspect ratio is not as wanted.
    bool window(Philox& random, AxisBox& to) const {
      double extents[kMostBoxAxes];
      if (crop_.empty() && !draw_extents(random, extents)) return false;
      for (int k = 0; k < axes_; k++) {
        if (crop_.empty()) {
          to.low[k] = float(random.uniform64() * (1 - extents[k]));
          to.high[k] = float(to.low[k] + extents[k]);
        } else {
          const int64_t in = in_[size_t(k)], crop = crop_[size_t(k)], room = in - crop;
          const auto places = uint64_t(room < 0 ? -room : room) + 1;
          const int64_t first = std::min<int64_t>(room, 0) + int64_t(random.below(places));
          to.low[k] = float(double(first) / double(in));
          to.high[k] = float(double(first + crop) / double(in));
        }
      }
      return true;
    }

   private:
    bool draw_extents(Philox& random, double* to) const {
      for (int k = 0; k < axes_; k++)
        to[k] = op_.scaling_[0] + random.uniform64() * (op_.scaling_[1] - op_.scaling_[0]);
      for (int pass = 1; pass < axes_; pass++)       // of three, the last pair may change what the first one has set
        for (size_t pair = 0; pair < pairs_.size() / 2; pair++) set_ratio(pair, to);
      for (size_t pair = 0; pair < pairs_.size() / 2; pair++) {
        const double ratio = to[first(pair)] / (to[second(pair)] * of_picture(pair));
        const double slack = axes_ == 3 && fixed(pair) ? 1e-5 : 0;
        if (axes_ == 2 && fixed(pair)) continue;     // as it was set
        if (!(ratio >= pairs_[2 * pair] * (1 - slack) && ratio <= pairs_[2 * pair + 1] * (1 + slack))) return false;
      }
      return true;
    }
    void set_ratio(size_t pair, double* to) const {
      if (!fixed(pair)) return;
      double &a = to[first(pair)], &b = to[second(pair)];
      const double ratio = pairs_[2 * pair] * of_picture(pair), larger = std::max(a, b);
      a = ratio >= 1 ? larger : larger * ratio;
      b = ratio >= 1 ? larger / ratio : larger;
    }
    bool fixed(size_t pair) const { return pairs_[2 * pair] == pairs_[2 * pair + 1]; }
    // The axes of x / y, x / z, y / z.
    static int first(size_t pair) { return pair == 2; }
    static int second(size_t pair) { return pair == 0 ? 1 : 2; }
    // What a ratio of 1 in pixels is in shares of the picture.
    double of_picture(size_t pair) const {
      return in_.empty() ? 1 : double(in_[size_t(second(pair))]) / double(in_[size_t(first(pair))]);
    }

    const RandomBboxCrop& op_;
    int axes_;
    std::vector<int64_t> in_, crop_;
    std::vector<double> pairs_;        // of ratios: the least and the largest
  };

  Arg<int64_t> crop_, in_;
  std::string layout_, shape_layout_;
  bool corners_;
  std::vector<double> ratios_, scaling_, thresholds_;
  int64_t attempts_, most_;            // 0: as many as needed
  float prune_;                        // below 0: it is not given
  bool all_, whole_too_, iou_, indices_;
};

}  // namespace ps
