// A sound's samples as they are wanted: of one channel, at another rate, of another type.
#pragma once

#include "core/memory.h"
#include "core/tensor.h"
#include "decode/audio/resampler.h"
#include "decode/audio/sound.h"

namespace ps {

struct SoundRequest {
  int64_t stored, channels;            // of the file
  int64_t first, frames;               // of the part that is wanted, in the file
  int64_t length;                      // of the result
  double scale;                        // samples of the file for one of the result; 1: it keeps its rate
  bool downmix;                        // the mean of all channels
  float rate;                          // of the result
};

// A part of a sound, at another rate unless `rate` is 0 or less. Throws Error(argument) for a rate that is no number,
// and for more samples than that, of all channels together.
SoundRequest request_sound(const Sound& sound, int64_t first, int64_t frames, double rate, bool downmix,
                           int64_t max_samples);

// What the request makes of the outputs: the samples, and a rate.
void describe_sound(const SoundRequest& r, DType dtype, Tensor& out, Tensor& rate);

// `out` is of type FLOAT, INT16 or INT32.
void read_sound(Sound& sound, const SoundRequest& r, const AudioResampler& resampler, const Tensor& out,
                Arena& scratch);

}  // namespace ps
