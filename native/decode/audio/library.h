// libsndfile's functions, found when the first sound comes. Its C ABI has been the same since version 1.0, so the
// declarations are ours, and no headers are needed.
#pragma once

#include <cstdint>

namespace ps {

struct SndFile;                        // SNDFILE

struct SndInfo {                       // SF_INFO
  int64_t frames;
  int samplerate, channels, format, sections, seekable;
};
struct SndSource {                     // SF_VIRTUAL_IO
  int64_t (*size)(void* user);
  int64_t (*seek)(int64_t offset, int whence, void* user);
  int64_t (*read)(void* to, int64_t bytes, void* user);
  int64_t (*write)(const void* from, int64_t bytes, void* user);
  int64_t (*tell)(void* user);
};
inline constexpr int kSndRead = 0x10;
inline constexpr int kSndSubtypes = 0xffff, kSndFloat = 6, kSndDouble = 7, kSndTypes = 0x0fff0000, kSndOgg = 0x200000;
inline constexpr int kSndPcm16 = 2, kSndPcm24 = 3, kSndPcm32 = 4, kSndWav = 0x10000, kSndWavExtensible = 0x130000;

struct SndLibrary {
  SndFile* (*open_virtual)(SndSource*, int mode, SndInfo*, void* user) = nullptr;
  int (*close)(SndFile*) = nullptr;
  const char* (*strerror)(SndFile*) = nullptr;
  int64_t (*seek)(SndFile*, int64_t, int whence) = nullptr;
  int64_t (*readf_float)(SndFile*, float*, int64_t) = nullptr;
  int64_t (*readf_short)(SndFile*, int16_t*, int64_t) = nullptr;
  int64_t (*readf_int)(SndFile*, int32_t*, int64_t) = nullptr;
  int64_t (*read_raw)(SndFile*, void*, int64_t bytes) = nullptr;
  static const SndLibrary& get();      // throws Error(unsupported) where there is none

 private:
  SndLibrary();
};

}  // namespace ps
