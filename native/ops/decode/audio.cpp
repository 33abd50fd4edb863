// Decodes sounds: their samples, and how many of them make a second.
#include <cmath>

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
    r = {sound.frames(), sound.frames(), sound.channels(), 1, downmix_};
    const double wanted = rate_.get(c);
    if (!std::isfinite(wanted)) fail(ErrorKind::argument, "sample_rate is " + std::to_string(wanted));
    const double rate = wanted > 0 ? wanted : sound.rate();
    if (rate != sound.rate()) {
      r.scale = sound.rate() / rate;
      if (double(r.frames) * double(r.channels) / r.scale > double(max_samples_))
        fail(ErrorKind::argument, "sample_rate is " + std::to_string(wanted) + ": that makes more than " +
                                      std::to_string(max_samples_) + " samples of " + std::to_string(r.frames));
      r.length = Resampler::length(r.frames, sound.rate(), rate);
    }
    Tensor& out = c.out(0);
    out.dtype = dtype_;
    out.shape = {r.length};
    if (!downmix_) out.shape.push(r.channels);
    out.layout = {};
    c.out(1).dtype = DType::f32;
    c.out(1).shape = {};
    c.out(1).layout = {};
    r.rate = float(rate);
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
  Resampler resampler_;
};

PS_OPERATOR("decode_audio", DecodeAudio)

}  // namespace ps
