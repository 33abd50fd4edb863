// A file of sound in memory: what its header says, and its samples.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "decode/audio/library.h"

namespace ps {

class Sound {
 public:
  // Throws Error(decode) for what is no sound, is broken, or has more samples than that, of all channels together.
  Sound(const uint8_t* data, size_t size, int64_t max_samples);
  ~Sound();
  Sound(const Sound&) = delete;
  Sound& operator=(const Sound&) = delete;

  int64_t frames() const { return info_.frames; }    // samples of one channel
  int64_t channels() const { return info_.channels; }
  double rate() const { return info_.samplerate; }
  bool stores_floats() const {
    const int subtype = info_.format & kSndSubtypes;
    return subtype == kSndFloat || subtype == kSndDouble;
  }
  // Goes on behind so many of the next samples, which must be there: throws Error(decode).
  void skip(int64_t frames);
  // The next samples of all channels, which must be there: throws Error(decode). As integers only where floats are not
  // what is stored, which libsndfile would not scale.
  void read(float* to, int64_t frames);
  void read(int16_t* to, int64_t frames) { read(SndLibrary::get().readf_short, to, frames); }
  void read(int32_t* to, int64_t frames) { read(SndLibrary::get().readf_int, to, frames); }

 private:
  template <class T> void read(int64_t (*function)(SndFile*, T*, int64_t), T* to, int64_t frames);
  template <int kBytes> void read_pcm(float* to, int64_t frames);
  [[noreturn]] void fail_short() const;
  [[noreturn]] void give_up(const std::string& why) const;

  struct Memory;
  const uint8_t* data_;
  int64_t size_, at_ = 0, done_ = 0;
  SndInfo info_{};
  SndFile* file_ = nullptr;
};

}  // namespace ps
