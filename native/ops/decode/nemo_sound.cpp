// The bytes of a sound's file, and which seconds of it are wanted -> their samples, and the file's rate.
#include <algorithm>
#include <cmath>
#include <string>

#include "decode/audio/reader.h"
#include "decode/limit.h"
#include "ops/decode/file.h"

namespace ps {

class NemoSound : public Operator {
 public:
  static constexpr Count kInputs{2, 2}, kOutputs{2, 2};
  explicit NemoSound(const Spec& s)
      : rate_(s.number("sample_rate")), dtype_(s.dtype("dtype")), downmix_(s.flag("downmix")),
        max_samples_(max_decoded_pixels()), resampler_(s.number("quality")) {}

  size_t params_size() const override { return sizeof(SoundRequest); }

  void setup(const Context& c) const override {
    check_file(c.in(0));
    const Tensor& part = c.in(1);
    if (part.dtype != DType::f64 || part.shape.volume() != 2)
      fail(ErrorKind::type, "expected a part's offset and duration, FLOAT64");
    const Sound sound = open(c);
    const double offset = part.as<double>()[0], duration = part.as<double>()[1];
    const double all = double(sound.frames()), first = std::floor(std::max(offset, 0.0) * sound.rate());
    if (first > all)
      fail(ErrorKind::decode, "its part begins at " + std::to_string(offset) + " seconds, and the sound has " +
                                  std::to_string(all / sound.rate()));
    double frames = all - first;
    if (duration >= 0) frames = std::min(frames, std::floor(duration * sound.rate()));
    SoundRequest& r = c.param<SoundRequest>();
    r = request_sound(sound, int64_t(first), int64_t(frames), rate_, downmix_, max_samples_);
    r.rate = float(sound.rate());
    describe_sound(r, dtype_, c.out(0), c.out(1));
  }

  void run(const Context& c) const override {
    Sound sound = open(c);
    const SoundRequest& r = c.param<SoundRequest>();
    if (r.length) read_sound(sound, r, resampler_, c.out(0), *c.scratch);
    *c.out(1).as<float>() = r.rate;
  }

 private:
  Sound open(const Context& c) const { return {c.in(0).as<uint8_t>(), c.in(0).bytes(), max_samples_}; }

  double rate_;
  DType dtype_;
  bool downmix_;
  int64_t max_samples_;
  AudioResampler resampler_;
};

PS_OPERATOR("nemo_sound", NemoSound)

}  // namespace ps
