// Numbers of Poisson distributions in place of their means.

#include "device/noise/shot.h"

#include "ops/noise/operator.h"

namespace ps {

class NoiseShot : public NoiseOperator<device::ShotNoise<float>> {
  using Functor = device::ShotNoise<float>;

 public:
  explicit NoiseShot(const Spec& s)
      : NoiseOperator(PS_FUNCTOR_TEMPLATE(ShotNoise, "noise/shot.h", float)), factor_(s.arg<float>("factor")) {}

 private:
  void fill(const Context& c, Functor& f) const override { f.factor = factor_.get(c); }

  Loop loop(DType t) const override {
    return visit_numbers(t, [](auto tag) -> Loop { return row<typename decltype(tag)::type>; });
  }

  template <class T> static void row(const Functor& f, const void* from, void* to, int64_t first, int64_t n) {
    device::ShotNoise<T> noise;
    noise.random = f.random;
    noise.factor = f.factor;
    const T* in = static_cast<const T*>(from);
    T* out = static_cast<T*>(to);
    for (int64_t i = 0; i < n; i++) out[i] = noise(in[i], first + i);
  }

  Arg<float> factor_;
};

PS_OPERATOR("noise_shot", NoiseShot)

}  // namespace ps
