// A sound's samples as they are wanted: of one channel, at another rate, of another type.
#pragma once

#include "core/memory.h"
#include "core/tensor.h"
#include "decode/audio/resampler.h"
#include "decode/audio/sound.h"

namespace ps {

struct SoundRequest {
  int64_t frames, length, channels;    // of the file; of the result; of the file
  double scale;                        // samples of the file for one of the result; 1: it keeps its rate
  bool downmix;                        // the mean of all channels
  float rate = 0;                      // of the result
};

// `out` is of type FLOAT, INT16 or INT32.
void read_sound(Sound& sound, const SoundRequest& r, const Resampler& resampler, const Tensor& out, Arena& scratch);

}  // namespace ps
