// Spectra in bands that are as wide as they sound.
#include <algorithm>
#include <cmath>
#include <string>

#include "cuda/record/operator.h"
#include "ops/audio/bands.h"
#include "ops/audio/signal.h"

namespace ps {

// Mel, by either formula. Slaney's is linear up to 1000 Hz, and logarithmic from there.
class Mel {
 public:
  explicit Mel(bool htk) : htk_(htk) {}
  double from_hz(double f) const {
    if (htk_) return 1127 * std::log1p(f / 700);
    return f < kBend ? f / kLinear : kBend / kLinear + std::log(f / kBend) / log_step();
  }
  double to_hz(double mel) const {
    if (htk_) return 700 * std::expm1(mel / 1127);
    return mel < kBend / kLinear ? mel * kLinear : kBend * std::exp((mel - kBend / kLinear) * log_step());
  }

 private:
  static constexpr double kBend = 1000, kLinear = 200.0 / 3;
  static double log_step() { return std::log(6.4) / 27; }
  bool htk_;
};

class MelFilterBank : public Operator, public GpuOperator {
 public:
  explicit MelFilterBank(const Spec& s)
      : count_(s.integer("nfilter")), rate_(s.number("sample_rate")), low_(s.number("freq_low")),
        high_(s.number("freq_high")), normalize_(s.flag("normalize")), mel_(s.string("mel_formula") == "htk"),
        tables_([this](int64_t extent) { return bands(extent); }) {}

  void setup(const Context& c) const override {
    const Tensor& in = c.in(0);
    audio::check_float(in);
    Tensor& out = c.out(0);
    out.dtype = DType::f32;
    out.shape = in.shape;
    out.shape[axis(c)] = count_;
    out.layout = in.layout;
  }

  void run(const Context& c) const override { tables_.run(c, axis(c)); }
  void record(gpu::Recorder& r) const override { tables_.record(r, axis); }

 private:
  static int axis(const Context& c) {
    const Tensor& in = c.in(0);
    if (in.shape.ndim == 0) fail(ErrorKind::argument, "the input is a number: expected an axis of frequencies");
    if (in.layout.empty()) return std::max(in.shape.ndim - 2, 0);
    const int found = in.layout.find('f');
    if (found < 0)
      fail(ErrorKind::layout, "the layout '" + std::string(in.layout.view()) + "' has no axis of frequencies, 'f'");
    return found;
  }

  // Triangles from the middle of the band below to that of the band above.
  audio::Bands bands(int64_t extent) const {
    const double from = mel_.from_hz(low_), step = (mel_.from_hz(high_) - from) / double(count_ + 1);
    const double width = rate_ / double(2 * std::max<int64_t>(extent - 1, 1));      // of a bin
    const auto edge = [&](int64_t i) {
      return i == 0 ? low_ : i == count_ + 1 ? high_ : mel_.to_hz(from + step * double(i));
    };
    const auto bin_at = [&](double f) {
      return std::clamp<int64_t>(int64_t(std::ceil(std::min(f / width, 1e9))), 0, extent);
    };
    audio::Bands all;
    for (int64_t i = 0; i < count_; i++) {
      const double left = edge(i), middle = edge(i + 1), right = edge(i + 2);
      const double scale = normalize_ ? 2 / (right - left) : 1;
      const int64_t begin = bin_at(left), end = bin_at(right);
      std::vector<double> weights;
      for (int64_t k = begin; k < end; k++) {
        const double f = double(k) * width;
        weights.push_back(scale * (f < middle ? (f - left) / (middle - left) : (right - f) / (right - middle)));
      }
      all.add(begin, weights);
    }
    return all;
  }

  int64_t count_;
  double rate_, low_, high_;
  bool normalize_;
  Mel mel_;
  audio::BandTables tables_;
};

PS_OPERATOR("mel_filter_bank", MelFilterBank)

}  // namespace ps
