// Decodes sounds: their samples, and how many of them make a second.
#include "decode/audio/reader.h"
#include "decode/limit.h"
#include "ops/decode/file.h"

namespace ps {

class DecodeAudio : public Operator {
 public:
  static constexpr Count kOutputs{2, 2};
  explicit DecodeAudio(const Spec& s)
      : rate_(s.arg<float>("sample_rate")), dtype_(s.dtype("dtype")), downmix_(s.flag("downmix")),
        max_samples_(max_decoded_pixels()), resampler_(s.number("quality")) {}

  size_t params_size() const override { return sizeof(SoundRequest); }

  void setup(const Context& c) const override {
    check_file(c.in(0));
    const Sound sound = open(c);
    SoundRequest& r = c.param<SoundRequest>();
    r = request_sound(sound, 0, sound.frames(), rate_.get(c), downmix_, max_samples_);
    describe_sound(r, dtype_, c.out(0), c.out(1));
  }

  void run(const Context& c) const override {
    Sound sound = open(c);
    const SoundRequest& r = c.param<SoundRequest>();
    read_sound(sound, r, resampler_, c.out(0), *c.scratch);
    *c.out(1).as<float>() = r.rate;
  }

 private:
  Sound open(const Context& c) const { return {c.in(0).as<uint8_t>(), c.in(0).bytes(), max_samples_}; }

  Arg<float> rate_;
  DType dtype_;
  bool downmix_;
  int64_t max_samples_;
  AudioResampler resampler_;
};

PS_OPERATOR("decode_audio", DecodeAudio)

}  // namespace ps
