// The box of a random object in a map of labels.
#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "core/convert.h"
#include "core/operator.h"
#include "ops/arguments/region.h"
#include "ops/segmentation/random_object_bbox/blobs.h"

namespace ps {

class RandomObjectBbox : public Operator {
 public:
  static constexpr Count kOutputs{1, 3};
  explicit RandomObjectBbox(const Spec& s)
      : background_(s.arg<int32_t>("background")), classes_(s.arg<int32_t>("classes")),
        weights_(s.arg<float>("class_weights")), probability_(s.arg<float>("foreground_prob")),
        threshold_(s.arg<int64_t>("threshold")), format_(s.string("format")), ignore_class_(s.flag("ignore_class")),
        output_class_(s.flag("output_class")),
        most_(s.find("k_largest") ? s.integer("k_largest") : std::numeric_limits<int64_t>::max()) {}

  void setup(const Context& c) const override {
    const Tensor& in = c.in(0);
    if (!(is_integer(in.dtype) && size_of(in.dtype) <= 4))
      fail(ErrorKind::type,
           std::string("expected labels of BOOL or of integers up to 32 bits, got ") + name_of(in.dtype));
    const int n = in.shape.ndim;
    if (n == 0) fail(ErrorKind::type, "the input is a single number; expected a map of labels");
    if (in.shape.volume() > std::numeric_limits<int32_t>::max())
      fail(ErrorKind::argument, "a map of the shape " + to_string(in.shape) + " is too large");
    if (const int64_t have = threshold_.size(c); threshold_.given() && have != 1 && have != n)
      fail(ErrorKind::argument, "threshold has " + std::to_string(have) + " values for " + std::to_string(n) + " axes");
    find_classes(c);
    for (int i = 0; i < c.num_outputs; i++) {
      Tensor& out = c.out(i);
      out.dtype = DType::i32;
      out.layout = {};
      out.shape = {format_ == "box" ? 2 * n : n};
    }
    if (output_class_) c.out(c.num_outputs - 1).shape = {};
  }

  void run(const Context& c) const override {
    const Classes classes = find_classes(c);
    Philox random = c.random();
    std::optional<LabelBox> box;
    if (random.uniform64() < double(probability_.get(c))) box = find(c, classes, random);
    if (!box) {
      const Region all = Region::whole(c.in(0).shape);
      box = LabelBox{classes.background, all.anchor, all.shape};
    }
    const int n = box->start.ndim;
    const bool together = format_ == "box";
    int32_t *first = c.out(0).as<int32_t>(), *second = together ? first + n : c.out(1).as<int32_t>();
    for (int i = 0; i < n; i++) {
      first[i] = int32_t(box->start[i]);
      second[i] = int32_t(format_ == "anchor_shape" ? box->end[i] - box->start[i] : box->end[i]);
    }
    if (output_class_) *c.out(c.num_outputs - 1).as<int32_t>() = box->label;
  }

 private:
  struct Class {
    int32_t label;
    double weight;
  };
  struct Classes {
    int32_t background;
    bool given;                        // otherwise all are that the map has
    std::vector<Class> all;
  };

  static bool is_integer(DType t) { return t == DType::boolean || (t >= DType::u8 && t <= DType::i64); }

  Classes find_classes(const Context& c) const {
    Classes found{background_.given() ? background_.get(c) : 0, classes_.given() || weights_.given(), {}};
    if (!found.given) return found;
    const int64_t n = classes_.given() ? classes_.size(c) : weights_.size(c);
    if (weights_.given() && weights_.size(c) != n)
      fail(ErrorKind::argument, "class_weights has " + std::to_string(weights_.size(c)) + " values for " +
                                    std::to_string(n) + " classes");
    int32_t next = 0;
    for (int64_t i = 0; i < n; i++) {
      if (!classes_.given() && next == found.background) next++;
      const int32_t label = classes_.given() ? classes_.get(c, i) : next++;
      found.all.push_back({label, weights_.given() ? double(weights_.get(c, i)) : 1.0});
    }
    const auto has = [&](int32_t label) {
      return std::any_of(found.all.begin(), found.all.end(), [&](const Class& k) { return k.label == label; });
    };
    if (!has(found.background)) return found;
    if (background_.given())
      fail(ErrorKind::argument, "background is " + std::to_string(found.background) + ", which is one of the classes");
    // The number below the least class; behind the least number comes the largest.
    const auto least = std::min_element(found.all.begin(), found.all.end(),
                                        [](const Class& a, const Class& b) { return a.label < b.label; });
    auto other = uint32_t(least->label);
    do other--;
    while (has(int32_t(other)));
    found.background = int32_t(other);
    return found;
  }

  std::optional<LabelBox> find(const Context& c, Classes classes, Philox& random) const {
    const Tensor& in = c.in(0);
    const auto n = in.shape.volume();
    if (!n) return {};
    std::vector<int32_t> labels(static_cast<size_t>(n));
    visit(in.dtype, [&](auto tag) {
      using T = typename decltype(tag)::type;
      const T* from = in.as<T>();
      for (int64_t i = 0; i < n; i++) labels[size_t(i)] = int32_t(from[i]);
    });
    Blobs blobs(labels.data(), in.shape);
    if (ignore_class_) return one_of(c, blobs.boxes([&](int32_t v) { return v != classes.background; }), random);
    keep_present(labels, classes);
    while (!classes.all.empty()) {
      const auto chosen = classes.all.begin() + draw_class(classes.all, random);
      const int32_t label = chosen->label;
      classes.all.erase(chosen);
      if (const auto box = one_of(c, blobs.boxes([&](int32_t v) { return v == label; }), random)) return box;
    }
    return {};
  }

  // Of the classes those that the map has, and that have a chance.
  static void keep_present(const std::vector<int32_t>& labels, Classes& classes) {
    std::vector<int32_t> present;
    for (size_t i = 0; i < labels.size(); i++)
      if (!i || labels[i] != labels[i - 1]) present.push_back(labels[i]);
    std::sort(present.begin(), present.end());
    present.erase(std::unique(present.begin(), present.end()), present.end());
    if (!classes.given)
      for (int32_t label : present)
        if (label != classes.background) classes.all.push_back({label, 1});
    std::erase_if(classes.all, [&](const Class& k) {
      return !(k.weight > 0) || !std::binary_search(present.begin(), present.end(), k.label);
    });
  }

  static int64_t draw_class(const std::vector<Class>& classes, Philox& random) {
    double sum = 0;
    for (const Class& k : classes) sum += k.weight;
    double left = random.uniform64() * sum;
    for (size_t i = 0; i + 1 < classes.size(); i++)
      if ((left -= classes[i].weight) < 0) return int64_t(i);
    return int64_t(classes.size()) - 1;
  }

  std::optional<LabelBox> one_of(const Context& c, std::vector<LabelBox> boxes, Philox& random) const {
    if (threshold_.given())
      std::erase_if(boxes, [&](const LabelBox& box) {
        for (int i = 0; i < box.start.ndim; i++)
          if (box.end[i] - box.start[i] < threshold_.get(c, threshold_.size(c) == 1 ? 0 : i)) return true;
        return false;
      });
    if (boxes.empty()) return {};
    if (int64_t(boxes.size()) > most_) {
      std::stable_sort(boxes.begin(), boxes.end(),
                       [](const LabelBox& a, const LabelBox& b) { return a.volume() > b.volume(); });
      boxes.resize(size_t(most_));
    }
    return boxes[random.below(boxes.size())];
  }

  Arg<int32_t> background_, classes_;
  Arg<float> weights_, probability_;
  Arg<int64_t> threshold_;
  std::string format_;
  bool ignore_class_, output_class_;
  int64_t most_;
};

PS_OPERATOR("segmentation_random_object_bbox", RandomObjectBbox)

}  // namespace ps
