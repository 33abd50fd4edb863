// Two operators of one's own: fn.roll, which runs by itself, and fn.sepia, which joins its neighbours in one pass over
// each picture, on GPUs in one kernel.
#include <penstock/operator.hpp>

struct Roll {
  static penstock::Declaration declare() {
    return penstock::Declaration("roll", "Shifts the columns of pictures (HWC, UINT8) to the right, cyclically.")
        .argument<int64_t>("by", "By how many columns; negative: to the left.", 0, penstock::per_sample);
  }

  void setup(const penstock::Sample& s) const {
    if (s.input(0).ndim() != 3) throw std::invalid_argument("expected pictures of three axes");
    s.output(0).like(s.input(0));
  }

  void run(const penstock::Sample& s) const {
    const penstock::Tensor in = s.input(0);
    const int64_t width = in.shape(1), pixel = in.shape(2), row = width * pixel;
    if (!width) return;
    const int64_t by = ((s.integer("by") % width) + width) % width * pixel;
    const uint8_t* from = in.data<uint8_t>();
    uint8_t* to = s.output(0).data<uint8_t>();
    for (int64_t y = 0; y < in.shape(0); y++, from += row, to += row) {
      std::memcpy(to + by, from, size_t(row - by));
      std::memcpy(to, from + row - by, size_t(by));
    }
  }
};

// Compiled here for CPUs, and by NVRTC for GPUs.
PENSTOCK_SHARED(Tone, struct Tone {
  float strength;
  PENSTOCK_FN void operator()(const float* rgb, float* out) const {
    const float grey = 0.299f * rgb[0] + 0.587f * rgb[1] + 0.114f * rgb[2];
    out[0] = rgb[0] + strength * (1.2f * grey - rgb[0]);
    out[1] = rgb[1] + strength * (1.0f * grey - rgb[1]);
    out[2] = rgb[2] + strength * (0.8f * grey - rgb[2]);
  }
};)

struct Sepia {
  using Functor = Tone;
  static constexpr int channels = 3;

  static penstock::Declaration declare() {
    return penstock::Declaration("sepia", "Makes pictures look old.")
        .argument<double>("strength", "From 0, which changes nothing, to 1.", 1.0, penstock::per_sample);
  }

  Tone functor(const penstock::Sample& s) const {
    const double strength = s.number("strength");
    if (!(strength >= 0 && strength <= 1)) throw std::invalid_argument("strength: expected 0 to 1");
    return {float(strength)};
  }
};

PENSTOCK_OPERATORS(Roll, Sepia)
