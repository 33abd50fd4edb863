// Powers as decibels.
#include "device/audio/decibels.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "cuda/record/operator.h"
#include "ops/audio/signal.h"
#include "ops/tensor/reductions/gpu.h"

namespace ps {

class ToDecibels : public Operator, public GpuOperator {
 public:
  explicit ToDecibels(const Spec& s) : reference_(float(s.number("reference"))) {
    const double multiplier = s.number("multiplier");
    how_.least = std::max(float(std::pow(10.0, s.number("cutoff_db") / multiplier)),
                          std::numeric_limits<float>::denorm_min());
    how_.scale = float(multiplier * std::log10(2.0));
    how_.inverse = 1.0f / reference_;
  }

  void setup(const Context& c) const override {
    audio::check_float(c.in(0));
    c.out(0).dtype = DType::f32;
    c.out(0).shape = c.in(0).shape;
    c.out(0).layout = c.in(0).layout;
  }

  void run(const Context& c) const override {
    const auto* __restrict in = c.in(0).as<float>();
    auto* __restrict out = c.out(0).as<float>();
    const int64_t n = c.in(0).shape.volume();
    const device::ToDecibels how = how_;
    const float inverse = reference_ == 0 ? device::ToDecibels::inverse_of(largest(in, n)) : how.inverse;
    for (int64_t i = 0; i < n; i++) out[i] = how.decibels(in[i], inverse);
  }

  void record(gpu::Recorder& r) const override {
    if (!r.size()) return;
    float* largest = nullptr;
    if (reference_ == 0) {
      largest = static_cast<float*>(r.scratch(size_t(r.size()) * sizeof(float)));
      gpu::Reducing reducing(r, device::Reduction::max, DType::f32);
      std::vector<void*> found;
      for (int i = 0; i < r.size(); i++) {
        const int64_t n = r[i].in(0).shape.volume();
        const bool all[1] = {true};
        reducing.add({r[i].in(0).data, ReducedShape(Shape{n}, all)});
        found.push_back(largest + i);
      }
      reducing.record_pieces();
      reducing.record_results(device::Reduction::max, DType::f32, 0, found);
    }
    r.elements(PS_FUNCTOR(ToDecibels, "audio/decibels.h"), [&](const Context& c, void* functor) {
      auto* f = new (functor) device::ToDecibels(how_);
      f->in = c.in(0).as<float>();
      f->out = c.out(0).as<float>();
      f->largest = largest ? largest + c.index : nullptr;
      return c.in(0).shape.volume();
    });
  }

 private:
  // In several lanes: a single one waits for itself.
  static float largest(const float* in, int64_t n) {
    constexpr int kSeveral = 32;
    float found[kSeveral] = {};
    int64_t i = 0;
    for (; i + kSeveral <= n; i += kSeveral)
      for (int k = 0; k < kSeveral; k++) found[k] = found[k] < in[i + k] ? in[i + k] : found[k];
    for (; i < n; i++) found[0] = found[0] < in[i] ? in[i] : found[0];
    return *std::max_element(found, found + kSeveral);
  }

  float reference_;
  device::ToDecibels how_{};
};

PS_OPERATOR("to_decibels", ToDecibels)

}  // namespace ps
