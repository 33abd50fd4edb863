#include "decode/audio/reader.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "core/error.h"

namespace ps {
namespace {

float* floats(Arena& scratch, int64_t n) { return static_cast<float*>(scratch.take(sizeof(float) * size_t(n))); }

void mix(const float* from, int64_t frames, int64_t channels, float* to) {
  const float share = 1.0f / float(channels);
  for (int64_t i = 0; i < frames; i++) {
    float sum = 0;
    for (int64_t k = 0; k < channels; k++) sum += from[i * channels + k];
    to[i] = sum * share;
  }
}

// All samples as floats, of one channel or of all.
void read_floats(Sound& sound, const SoundRequest& r, float* to, Arena& scratch) {
  if (!r.downmix || r.channels == 1) return sound.read(to, r.frames);
  const int64_t piece = std::max<int64_t>((1 << 14) / r.channels, 1);
  float* all = floats(scratch, piece * r.channels);
  for (int64_t at = 0, n; at < r.frames; at += n) {
    n = std::min(piece, r.frames - at);
    sound.read(all, n);
    mix(all, n, r.channels, to + at);
  }
}

template <class T> void convert_samples(const float* from, int64_t n, T* to) {
  for (int64_t i = 0; i < n; i++) to[i] = device::sample_from_float<T>(from[i]);
}

template <class T> void read_as(Sound& sound, const SoundRequest& r, const AudioResampler& resampler, T* to,
                                Arena& scratch) {
  const bool same_rate = r.scale == 1, mixed = r.downmix && r.channels > 1;
  constexpr bool real = std::is_same_v<T, float>;
  if (same_rate && !mixed && (real || !sound.stores_floats())) return sound.read(to, r.frames);
  const int64_t channels = r.downmix ? 1 : r.channels;
  float* result = nullptr;
  if constexpr (real) result = to;
  else result = floats(scratch, r.length * channels);
  if (same_rate) {
    read_floats(sound, r, result, scratch);
  } else {
    float* stored = floats(scratch, r.frames * channels);
    read_floats(sound, r, stored, scratch);
    resampler.run(stored, r.frames, channels, r.scale, result, r.length, scratch);
  }
  if constexpr (!real) convert_samples(result, r.length * channels, to);
}

}  // namespace

SoundRequest request_sound(const Sound& sound, int64_t first, int64_t frames, double rate, bool downmix,
                           int64_t max_samples) {
  if (!std::isfinite(rate)) fail(ErrorKind::argument, "sample_rate is " + std::to_string(rate));
  SoundRequest r{sound.frames(), sound.channels(), first, frames, frames, 1, downmix, float(sound.rate())};
  if (rate <= 0 || rate == sound.rate()) return r;
  r.scale = sound.rate() / rate;
  if (double(r.frames) * double(r.channels) / r.scale > double(max_samples))
    fail(ErrorKind::argument, "sample_rate is " + std::to_string(rate) + ": that makes more than " +
                                  std::to_string(max_samples) + " samples of " + std::to_string(r.frames));
  r.length = AudioResampler::length(r.frames, sound.rate(), rate);
  r.rate = float(rate);
  return r;
}

void describe_sound(const SoundRequest& r, DType dtype, Tensor& out, Tensor& rate) {
  out.dtype = dtype;
  out.shape = {r.length};
  if (!r.downmix) out.shape.push(r.channels);
  out.layout = {};
  rate.dtype = DType::f32;
  rate.shape = {};
  rate.layout = {};
}

void read_sound(Sound& sound, const SoundRequest& r, const AudioResampler& resampler, const Tensor& out,
                Arena& scratch) {
  if (sound.frames() != r.stored || sound.channels() != r.channels)
    fail(ErrorKind::decode, "the file has changed since its header was read");
  sound.skip(r.first);
  switch (out.dtype) {
    case DType::f32: return read_as(sound, r, resampler, out.as<float>(), scratch);
    case DType::i16: return read_as(sound, r, resampler, out.as<int16_t>(), scratch);
    case DType::i32: return read_as(sound, r, resampler, out.as<int32_t>(), scratch);
    default: fail(ErrorKind::type, std::string("sounds are not decoded to ") + name_of(out.dtype));
  }
}

}  // namespace ps
