// Numbers of a normal distribution added to each element.

#include "device/noise/gaussian.h"

#include <algorithm>

#include "core/operator.h"
#include "ops/noise/operator.h"

namespace ps {

class NoiseGaussian : public NoiseOperator<device::GaussianNoise<float>> {
  using Functor = device::GaussianNoise<float>;

 public:
  explicit NoiseGaussian(const Spec& s)
      : NoiseOperator(PS_FUNCTOR_TEMPLATE(GaussianNoise, "noise/gaussian.h", float)), mean_(s.arg<float>("mean")),
        stddev_(s.arg<float>("stddev")) {}

 private:
  void fill(const Context& c, Functor& f) const override {
    f.mean = mean_.get(c);
    f.stddev = stddev_.get(c);
  }

  Loop loop(DType t) const override {
    return visit_numbers(t, [](auto tag) -> Loop { return row<typename decltype(tag)::type>; });
  }

  static void draw(const device::PhiloxSequence& random, uint32_t block, float* numbers) {
    uint32_t words[4][kNoiseBlocks];
    float drawn[4][kNoiseBlocks];
    noise_blocks(random, block, words);
    for (int pair = 0; pair < 4; pair += 2)
      for (int j = 0; j < kNoiseBlocks; j++) {
        const device::Normals two = device::normals(words[pair][j], words[pair + 1][j]);
        drawn[pair][j] = two.v[0];
        drawn[pair + 1][j] = two.v[1];
      }
    for (int j = 0; j < kNoiseBlocks; j++)
      for (int w = 0; w < 4; w++) numbers[4 * j + w] = drawn[w][j];
  }

  template <class T> static void row(const Functor& f, const void* from, void* to, int64_t first, int64_t n) {
    device::GaussianNoise<T> noise;
    noise.mean = f.mean;
    noise.stddev = f.stddev;
    with_numbers<float>(
        first, n, [&](uint32_t block, float* numbers) { draw(f.random, block, numbers); },
        [&](const float* numbers, int64_t at, int64_t count) {
          const T* __restrict in = static_cast<const T*>(from) + at;
          T* __restrict out = static_cast<T*>(to) + at;
          for (int64_t i = 0; i < count; i++) out[i] = noise.add(in[i], numbers[i]);
        });
  }

  Arg<float> mean_, stddev_;
};

PS_OPERATOR("noise_gaussian", NoiseGaussian)

}  // namespace ps
