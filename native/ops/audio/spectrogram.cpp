// Powers of frequencies in windows of a signal.
#include "device/audio/spectrogram.h"

#include <cmath>
#include <cstring>
#include <numbers>

#include "cuda/record/layout.h"
#include "cuda/record/operator.h"
#include "ops/audio/fft.h"
#include "ops/audio/signal.h"

namespace ps {

class Spectrogram : public Operator, public GpuOperator {
 public:
  explicit Spectrogram(const Spec& s)
      : weights_(weights(s)), length_(int64_t(weights_.size())), step_(s.integer("window_step")),
        before_(s.flag("center_windows") ? length_ / 2 : 0), centered_(s.flag("center_windows")),
        reflect_(s.flag("reflect_padding")), time_last_(s.string("layout") == "ft"), power_(audio::power_of(s)),
        fft_(s.integer("nfft")) {}

  void setup(const Context& c) const override {
    const Tensor& in = c.in(0);
    audio::check_float(in);
    const int64_t n = audio::signal_length(in);
    if (n == 0) fail(ErrorKind::argument, "the signal is empty");
    if (!centered_ && n < length_)
      fail(ErrorKind::argument, "the signal has " + std::to_string(n) + " samples, fewer than a window of " +
                                    std::to_string(length_));
    const int64_t windows = (centered_ ? n : n - length_) / step_ + 1;
    Tensor& out = c.out(0);
    out.dtype = DType::f32;
    out.shape = {windows, fft_.bins()};
    if (time_last_) std::swap(out.shape[0], out.shape[1]);
    out.layout = time_last_ ? "ft" : "tf";
  }

  void run(const Context& c) const override {
    constexpr int lanes = audio::kLanes;
    const Tensor& in = c.in(0);
    const int64_t n = in.shape.volume(), bins = fft_.bins(), windows = c.out(0).shape[time_last_ ? 1 : 0];
    float* out = c.out(0).as<float>();
    audio::FftRun run(fft_, *c.scratch);
    auto* found = static_cast<float*>(c.scratch->take(sizeof(float) * size_t(bins) * lanes));
    auto* padded = static_cast<float*>(c.scratch->take(sizeof(float) * size_t(length_) * lanes));
    const float* rows[lanes];
    for (int64_t t = 0; t < windows; t += lanes) {
      const int count = int(std::min<int64_t>(lanes, windows - t));
      for (int lane = 0; lane < lanes; lane++)
        rows[lane] = window(in.as<float>(), n, std::min(t + lane, windows - 1), padded + lane * length_);
      load(run, rows);
      run.transform();
      if (time_last_ && count == lanes) {
        run.store(out + t, windows, power_);
        continue;
      }
      run.store(found, lanes, power_);
      if (time_last_)
        for (int64_t k = 0; k < bins; k++)
          std::memcpy(out + k * windows + t, found + k * lanes, sizeof(float) * size_t(count));
      else
        audio::from_lanes(found, bins, count, out + t * bins, bins);
    }
  }

  void record(gpu::Recorder& r) const override {
    if (!r.size()) return;
    using Job = device::SpectrogramJob;
    constexpr int64_t shared = 48 << 10;
    const device::FftPlan& plan = fft_.plan();
    const int64_t bytes = 2 * int64_t(sizeof(device::Pair)) * plan.length;
    const int per_block = int(std::clamp<int64_t>(shared / 2 / bytes, 1, 8));
    const auto* tables = r.constant(fft_.tables().data(), fft_.tables().size() * sizeof(device::Pair));
    const auto* weights = r.constant(weights_.data(), weights_.size() * sizeof(float));
    constexpr size_t stride = (sizeof(Job) + 15) / 16 * 16;
    std::vector<uint8_t> jobs(stride * size_t(r.size()));
    std::vector<int> blocks(size_t(r.size()), 0);
    for (int i = 0; i < r.size(); i++) {
      const Context& c = r[i];
      Job job{};
      job.in = c.in(0).as<float>();
      job.weights = static_cast<const float*>(weights);
      job.out = c.out(0).as<float>();
      job.length = c.in(0).shape.volume();
      job.windows = c.out(0).shape[time_last_ ? 1 : 0];
      job.before = before_;
      job.step = step_;
      job.bin_step = time_last_ ? job.windows : 1;
      job.window_step = time_last_ ? 1 : fft_.bins();
      job.window_length = int32_t(length_);
      job.reflect = reflect_;
      job.power = power_;
      job.per_block = per_block;
      const int64_t needed = (job.windows + per_block - 1) / per_block;
      job.blocks = int32_t(std::min<int64_t>(needed, bytes > shared ? 32 : INT32_MAX));
      if (bytes > shared) job.scratch = static_cast<device::Pair*>(r.scratch(size_t(bytes) * size_t(job.blocks)));
      job.fft = plan;
      job.fft.tables = static_cast<const device::Pair*>(tables);
      std::memcpy(jobs.data() + stride * size_t(i), &job, sizeof job);
      blocks[size_t(i)] = job.blocks;
    }
    r.launch(std::string("#include \"device/audio/spectrogram.h\"\n") + PS_LAYOUT_OF(Launch) +
                 PS_LAYOUT_OF(SpectrogramJob) + "PS_SPECTROGRAM_KERNEL\n",
             blocks, jobs, stride, device::kSpectrogramThreads, bytes > shared ? 0 : int(bytes) * per_block);
  }

 private:
  static std::vector<float> weights(const Spec& s) {
    const int64_t length = s.integer("window_length");
    std::vector<float> all;
    if (const ArgValue* given = s.find("window_fn")) {
      for (double v : given->numbers) all.push_back(float(v));
    } else {                                         // Hann's
      for (int64_t i = 0; i < length; i++)
        all.push_back(float(0.5 - 0.5 * std::cos(2 * std::numbers::pi * (double(i) + 0.5) / double(length))));
    }
    return all;
  }

  // Of this number: in the signal itself, or copied where it reaches beyond that.
  const float* window(const float* in, int64_t n, int64_t number, float* copy) const {
    const int64_t begin = number * step_ - before_;
    if (begin >= 0 && begin + length_ <= n) return in + begin;
    for (int64_t i = 0; i < length_; i++) {
      const int64_t at = device::window_index(begin + i, n, reflect_);
      copy[i] = at < 0 ? 0.0f : in[at];
    }
    return copy;
  }

  void load(audio::FftRun& run, const float* const* rows) const {
    if (run.step() == 1) {
      audio::to_lanes(rows, weights_.data(), length_, run.numbers());
    } else {
      for (int64_t i = 0; i < length_; i++)
        for (int lane = 0; lane < audio::kLanes; lane++)
          run.numbers()[i * 2 * audio::kLanes + lane] = rows[lane][i] * weights_[size_t(i)];
    }
    run.clear(length_);
  }

  std::vector<float> weights_;
  int64_t length_, step_, before_;
  bool centered_, reflect_, time_last_;
  int power_;
  audio::Fft fft_;
};

PS_OPERATOR("spectrogram", Spectrogram)

}  // namespace ps
