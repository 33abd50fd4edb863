// Single pixels turned into white and black ones.

#include "device/noise/salt_and_pepper.h"

#include <algorithm>
#include <limits>

#include "ops/arguments/fill_numbers.h"
#include "ops/noise/operator.h"

namespace ps {

class NoiseSaltAndPepper : public NoiseOperator<device::SaltAndPepper<float>> {
  using Functor = device::SaltAndPepper<float>;

 public:
  explicit NoiseSaltAndPepper(const Spec& s)
      : NoiseOperator(PS_FUNCTOR_TEMPLATE(SaltAndPepper, "noise/salt_and_pepper.h", float)),
        prob_(s.arg<float>("prob")), salt_share_(s.arg<float>("salt_vs_pepper")), salt_(s.arg<float>("salt_val")),
        pepper_(s.arg<float>("pepper_val")), per_channel_(s.flag("per_channel")) {}

 private:
  void fill(const Context& c, Functor& f) const override {
    const double prob = share(c, prob_, "prob"), salt = share(c, salt_share_, "salt_vs_pepper");
    f.salt = uint64_t(prob * salt * 0x1p32);
    f.either = uint64_t(prob * 0x1p32);
    visit(c.in(0).dtype, [&](auto tag) {
      using T = typename decltype(tag)::type;
      const auto value = [&](const Arg<float>& a, T usual, void* to) {
        const T v = a.given() ? cast_number<T>(a.get(c)) : usual;
        std::memcpy(to, &v, sizeof v);
      };
      constexpr bool real = detail::is_real<T>;
      value(salt_, real ? T(1) : std::numeric_limits<T>::max(), f.values[0]);
      value(pepper_, real ? T(-1) : std::numeric_limits<T>::lowest(), f.values[1]);
    });
    f.channels = f.inner = device::Divisor(1);
    if (per_channel_) return;
    const Tensor& in = c.in(0);
    const int axis = in.layout.empty() ? in.shape.ndim - 1 : in.layout.find('C');
    if (axis < 0) return;                                // each pixel is a number
    int64_t inner = 1;
    for (int i = axis + 1; i < in.shape.ndim; i++) inner *= in.shape[i];
    f.channels = device::Divisor(uint64_t(std::max<int64_t>(in.shape[axis], 1)));
    f.inner = device::Divisor(uint64_t(std::max<int64_t>(inner, 1)));
  }

  static double share(const Context& c, const Arg<float>& a, const char* name) {
    const float v = a.get(c);
    if (v >= 0 && v <= 1) return double(v);
    fail(ErrorKind::argument, std::string(name) + " is " + std::to_string(v) + ": expected 0 to 1");
  }

  Loop loop(DType t) const override {
    return visit_numbers(t, [](auto tag) -> Loop { return row<typename decltype(tag)::type>; });
  }

  static void draw(const device::PhiloxSequence& random, uint32_t block, uint32_t* numbers) {
    uint32_t words[4][kNoiseBlocks];
    noise_blocks(random, block, words);
    for (int j = 0; j < kNoiseBlocks; j++)
      for (int w = 0; w < 4; w++) numbers[4 * j + w] = words[w][j];
  }

  template <class T> static void row(const Functor& f, const void* from, void* to, int64_t first, int64_t n) {
    device::SaltAndPepper<T> noise;
    static_cast<device::SaltAndPepperFields&>(noise) = f;
    const T* in = static_cast<const T*>(from);
    T* out = static_cast<T*>(to);
    const auto channels = int64_t(f.channels.number()), inner = int64_t(f.inner.number());
    const auto drawing = [&](uint32_t block, uint32_t* numbers) { draw(f.random, block, numbers); };
    if (inner == 1 && first % channels == 0 && n % channels == 0) {
      with_numbers<uint32_t>(first / channels, n / channels, drawing,
                             [&](const uint32_t* numbers, int64_t at, int64_t count) {
                               pixels(noise, numbers, in + at * channels, out + at * channels, count, channels);
                             });
      return;
    }
    // Elements of one channel: their pixels are neighbours.
    for (int64_t i = 0; i < n;) {
      const int64_t count = std::min(n - i, inner - (first + i) % inner);
      with_numbers<uint32_t>(noise.pixel(first + i), count, drawing,
                             [&](const uint32_t* numbers, int64_t at, int64_t some) {
                               pixels(noise, numbers, in + i + at, out + i + at, some, 1);
                             });
      i += count;
    }
  }

  template <class T>
  static void pixels(const device::SaltAndPepper<T>& noise, const uint32_t* numbers, const T* __restrict in,
                     T* __restrict out, int64_t n, int64_t channels) {
    if (channels == 1) {
      for (int64_t i = 0; i < n; i++) out[i] = noise.chosen(in[i], numbers[i]);
    } else if (channels == 3) {
      for (int64_t i = 0; i < n; i++)
        for (int64_t k = 0; k < 3; k++) out[3 * i + k] = noise.chosen(in[3 * i + k], numbers[i]);
    } else {
      for (int64_t i = 0; i < n; i++)
        for (int64_t k = 0; k < channels; k++) out[channels * i + k] = noise.chosen(in[channels * i + k], numbers[i]);
    }
  }

  Arg<float> prob_, salt_share_, salt_, pepper_;
  bool per_channel_;
};

PS_OPERATOR("noise_salt_and_pepper", NoiseSaltAndPepper)

}  // namespace ps
