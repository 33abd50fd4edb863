// Boxes as the targets of a detector with anchors.

#include "device/boxes/box_encoder.h"

#include <algorithm>
#include <string>
#include <vector>

#include "core/operator.h"
#include "cuda/record/operator.h"

namespace ps {

class BoxEncoder : public Operator, public GpuOperator {
 public:
  static constexpr Count kInputs{2, 2}, kOutputs{2, 2};
  explicit BoxEncoder(const Spec& s)
      : anchors_(floats(s, "anchors")), means_(floats(s, "means")), stds_(floats(s, "stds")),
        criteria_(float(s.number("criteria"))), scale_(float(s.number("scale"))), offset_(s.flag("offset")) {}

  void setup(const Context& c) const override {
    const Tensor &boxes = c.in(0), &labels = c.in(1);
    if (boxes.dtype != DType::f32)
      fail(ErrorKind::type, std::string("expected boxes of FLOAT, got ") + name_of(boxes.dtype));
    if (boxes.shape.ndim != 2 || boxes.shape[1] != 4)
      fail(ErrorKind::type, "expected boxes of the shape (boxes, 4), got " + to_string(boxes.shape));
    if (labels.dtype != DType::i32)
      fail(ErrorKind::type, std::string("expected labels of INT32, got ") + name_of(labels.dtype));
    if (labels.shape.volume() != boxes.shape[0])
      fail(ErrorKind::argument, "there are labels of the shape " + to_string(labels.shape) + " for " +
                                    std::to_string(boxes.shape[0]) + " boxes");
    c.out(0).dtype = DType::f32;
    c.out(0).shape = {count(), 4};
    c.out(1).dtype = DType::i32;
    c.out(1).shape = {count()};
    c.out(0).layout = c.out(1).layout = {};
  }

  void run(const Context& c) const override {
    const int64_t boxes = c.in(0).shape[0];
    auto* best = static_cast<int32_t*>(c.scratch->take(size_t(boxes) * sizeof(int32_t)));
    const device::BestAnchor matcher{c.in(0).as<float>(), anchors_.data(), best, count()};
    for (int64_t i = 0; i < boxes; i++) matcher.element(i);
    const device::BoxEncoder encoder = functor(c, anchors_.data(), best);
    for (int64_t i = 0; i < count(); i++) encoder.element(i);
  }

  void record(gpu::Recorder& r) const override {
    const auto* anchors = static_cast<const float*>(r.constant(anchors_.data(), anchors_.size() * sizeof(float)));
    std::vector<int32_t*> best;
    for (int i = 0; i < r.size(); i++)
      best.push_back(static_cast<int32_t*>(r.scratch(size_t(r[i].in(0).shape[0]) * sizeof(int32_t))));
    r.elements(PS_FUNCTOR(BestAnchor, "boxes/box_encoder.h"), [&](const Context& c, void* to) {
      *static_cast<device::BestAnchor*>(to) = {c.in(0).as<float>(), anchors, best[size_t(c.index)], count()};
      return c.in(0).shape[0];
    });
    r.elements(PS_FUNCTOR(BoxEncoder, "boxes/box_encoder.h"), [&](const Context& c, void* to) {
      *static_cast<device::BoxEncoder*>(to) = functor(c, anchors, best[size_t(c.index)]);
      return count();
    });
  }

 private:
  static std::vector<float> floats(const Spec& s, const char* name) {
    const std::vector<double>& numbers = s.get(name).numbers;
    return {numbers.begin(), numbers.end()};
  }

  int64_t count() const { return int64_t(anchors_.size()) / 4; }

  device::BoxEncoder functor(const Context& c, const float* anchors, const int32_t* best) const {
    device::BoxEncoder f{c.in(0).as<float>(), c.in(1).as<int32_t>(), best, anchors, c.out(0).as<float>(),
                         c.out(1).as<int32_t>(), c.in(0).shape[0], offset_, criteria_, scale_, {}, {}};
    std::copy_n(means_.begin(), 4, f.means);
    std::copy_n(stds_.begin(), 4, f.stds);
    return f;
  }

  std::vector<float> anchors_, means_, stds_;
  float criteria_, scale_;
  bool offset_;
};

PS_OPERATOR("box_encoder", BoxEncoder)

}  // namespace ps
