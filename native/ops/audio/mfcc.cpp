// Cosine transforms of spectra.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>

#include "cuda/record/operator.h"
#include "ops/audio/bands.h"
#include "ops/audio/signal.h"

namespace ps {

class Mfcc : public Operator, public GpuOperator {
 public:
  explicit Mfcc(const Spec& s)
      : axis_(s.integer("axis")), count_(s.integer("n_mfcc")), type_(s.integer("dct_type")),
        normalize_(s.flag("normalize")), lifter_(s.number("lifter")),
        tables_([this](int64_t extent) { return bands(extent); }) {}

  void setup(const Context& c) const override {
    const Tensor& in = c.in(0);
    audio::check_float(in);
    if (axis_ >= in.shape.ndim)
      fail(ErrorKind::axis, "axis=" + std::to_string(axis_) + " is no axis of the shape " + to_string(in.shape));
    const int64_t extent = in.shape[int(axis_)];
    if (type_ == 1 && extent == 1)
      fail(ErrorKind::argument, "dct_type=1 needs an axis of 2 or more elements, got the shape " + to_string(in.shape));
    Tensor& out = c.out(0);
    out.dtype = DType::f32;
    out.shape = in.shape;
    out.shape[int(axis_)] = std::min(count_, extent);
    out.layout = in.layout;
  }

  void run(const Context& c) const override { tables_.run(c, int(axis_)); }
  void record(gpu::Recorder& r) const override {
    tables_.record(r, [this](const Context&) { return int(axis_); });
  }

 private:
  double factor(int64_t k, int64_t i, int64_t n) const {
    const auto half_turns = [](int64_t numerator, int64_t denominator) {     // cos(pi * them)
      return std::cos(std::numbers::pi * double(numerator % (2 * denominator)) / double(denominator));
    };
    switch (type_) {
      case 1: return half_turns(i * k, n - 1) * (i == 0 || i == n - 1 ? 0.5 : 1);
      case 2: return half_turns((2 * i + 1) * k, 2 * n) * scale(k, n);
      case 3: return half_turns(i * (2 * k + 1), 2 * n) * (normalize_ || i ? scale(i, n) : 0.5);
      default: return half_turns((2 * i + 1) * (2 * k + 1), 4 * n) * scale(1, n);
    }
  }
  double scale(int64_t index, int64_t n) const {     // that makes the transform orthonormal
    return normalize_ ? std::sqrt((index ? 2.0 : 1.0) / double(n)) : 1;
  }

  audio::Bands bands(int64_t extent) const {
    audio::Bands all;
    for (int64_t k = 0; k < std::min(count_, extent); k++) {
      const double lift = lifter_ != 0 ? 1 + lifter_ / 2 * std::sin(std::numbers::pi / lifter_ * double(k + 1)) : 1;
      std::vector<double> weights;
      for (int64_t i = 0; i < extent; i++) weights.push_back(factor(k, i, extent));
      all.add(0, weights, lift);
    }
    return all;
  }

  int64_t axis_, count_, type_;
  bool normalize_;
  double lifter_;
  audio::BandTables tables_;
};

PS_OPERATOR("mfcc", Mfcc)

}  // namespace ps
