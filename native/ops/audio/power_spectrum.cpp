// Powers of frequencies on one axis.
#include <algorithm>
#include <map>
#include <string>

#include "ops/audio/fft.h"
#include "ops/audio/signal.h"

namespace ps {

class PowerSpectrum : public Operator {
 public:
  explicit PowerSpectrum(const Spec& s)
      : axis_(s.integer("axis")), nfft_(s.integer("nfft")), power_(audio::power_of(s)) {}

  void setup(const Context& c) const override {
    const Tensor& in = c.in(0);
    audio::check_float(in);
    const int n = in.shape.ndim, axis = int(axis_ < 0 ? axis_ + n : axis_);
    if (axis < 0 || axis >= n)
      fail(ErrorKind::axis, "axis=" + std::to_string(axis_) + " is no axis of the shape " + to_string(in.shape));
    if (length(in.shape[axis]) < 1 || length(in.shape[axis]) > audio::Fft::kLongest)
      fail(ErrorKind::argument, "a transform of " + std::to_string(length(in.shape[axis])) +
                                    " numbers: expected 1 to " + std::to_string(audio::Fft::kLongest));
    c.param<Params>().axis = axis;
    Tensor& out = c.out(0);
    out.dtype = DType::f32;
    out.shape = in.shape;
    out.shape[axis] = length(in.shape[axis]) / 2 + 1;
    out.layout = in.layout;
  }

  void run(const Context& c) const override {
    if (c.out(0).shape.volume() == 0) return;
    constexpr int lanes = audio::kLanes;
    const Shape& shape = c.in(0).shape;
    const int axis = c.param<Params>().axis;
    const int64_t extent = shape[axis], used = std::min(extent, length(extent));
    int64_t inner = 1, columns = 1;
    for (int i = 0; i < shape.ndim; i++) {
      if (i != axis) columns *= shape[i];
      if (i > axis) inner *= shape[i];
    }
    const audio::Fft& fft = c.st<ThreadState>().of(length(extent));
    const int64_t bins = fft.bins();
    const auto at = [&](int64_t column, int64_t n) { return column / inner * n * inner + column % inner; };
    audio::FftRun run(fft, *c.scratch);
    auto* found = static_cast<float*>(c.scratch->take(sizeof(float) * size_t(bins) * lanes));
    for (int64_t first = 0; first < columns; first += lanes) {
      const int count = int(std::min<int64_t>(lanes, columns - first));
      const float* from[lanes];
      for (int k = 0; k < lanes; k++) from[k] = c.in(0).as<float>() + at(std::min(first + k, columns - 1), extent);
      if (inner == 1 && run.step() == 1) audio::to_lanes(from, used, run.numbers());
      else
        for (int64_t i = 0; i < used; i++)
          for (int k = 0; k < lanes; k++) run.numbers()[i * run.step() * lanes + k] = from[k][i * inner];
      run.clear(used);
      run.transform();
      run.store(found, lanes, power_);
      for (int k = 0; k < count; k++) {
        float* to = c.out(0).as<float>() + at(first + k, bins);
        for (int64_t i = 0; i < bins; i++) to[i * inner] = found[i * lanes + k];
      }
    }
  }

  size_t params_size() const override { return sizeof(Params); }
  std::unique_ptr<State> make_state() const override { return std::make_unique<ThreadState>(); }

 private:
  struct Params {
    int axis;
  };
  // The transforms of the latest lengths.
  struct ThreadState : State {
    static constexpr size_t kMost = 16;
    std::map<int64_t, std::unique_ptr<const audio::Fft>> known;
    const audio::Fft& of(int64_t n) {
      if (known.size() >= kMost && !known.count(n)) known.clear();
      auto& fft = known[n];
      if (!fft) fft = std::make_unique<const audio::Fft>(n);
      return *fft;
    }
  };
  int64_t length(int64_t extent) const { return nfft_ > 0 ? nfft_ : extent; }

  int64_t axis_, nfft_;
  int power_;
};

PS_OPERATOR("power_spectrum", PowerSpectrum)

}  // namespace ps
