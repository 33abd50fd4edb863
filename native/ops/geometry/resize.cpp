// Resizes pictures, videos and volumes.
#include "ops/geometry/resize/operator.h"

namespace ps {

class Resize : public ResampleOperator {
 public:
  static constexpr Count kOutputs{1, 2};
  explicit Resize(const Spec& s) : ResampleOperator(s), size_(s), save_attrs_(s.num_outputs > 1) {}

  void setup(const Context& c) const override {
    ResampleOperator::setup(c);
    if (!save_attrs_) return;
    c.out(1).dtype = DType::i32;
    c.out(1).shape = {space_axes(c.in(0)).count};
    c.out(1).layout = {};
  }

  void record_others(gpu::Recorder& r) const override {
    if (!save_attrs_) return;
    std::vector<int32_t> extents;
    for (int i = 0; i < r.size(); i++) {
      const SpaceAxes space = space_axes(r[i].in(0));
      for (int k = 0; k < space.count; k++) extents.push_back(int32_t(r[i].in(0).shape[space.first + k]));
    }
    const size_t bytes = extents.size() * sizeof(int32_t);
    if (bytes) r.copy(r[0].out(1).data, r.constant(extents.data(), bytes), bytes);    // samples lie side by side
  }

 protected:
  void find(const Context& c, const SpaceAxes& space, ResampleRegion* regions) const override {
    size_.find(c, space.count, regions);
  }
  void finish(const Context& c) const override {
    const SpaceAxes space = space_axes(c.in(0));
    for (int i = 0; i < space.count; i++) c.out(1).as<int32_t>()[i] = int32_t(c.in(0).shape[space.first + i]);
  }

 private:
  ResampleSize size_;
  bool save_attrs_;
};

PS_OPERATOR("resize", Resize)

}  // namespace ps
