#include "decode/audio/sound.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <type_traits>

#include "core/error.h"

namespace ps {
namespace {

// Whole numbers of so many bytes, the lowest first, as shares of the largest: libsndfile's floats, to the last bit.
template <int kBytes> void shares_of_largest(const uint8_t* __restrict from, int64_t n, float* __restrict to) {
  for (int64_t i = 0; i < n; i++) {
    if constexpr (kBytes == 3) {
      const uint32_t v = uint32_t(from[3 * i]) << 8 | uint32_t(from[3 * i + 1]) << 16 | uint32_t(from[3 * i + 2]) << 24;
      to[i] = float(int32_t(v)) * 0x1p-31f;
    } else {
      std::conditional_t<kBytes == 2, int16_t, int32_t> v;
      std::memcpy(&v, from + kBytes * i, kBytes);
      to[i] = float(v) * (kBytes == 2 ? 0x1p-15f : 0x1p-31f);
    }
  }
}

}  // namespace

struct Sound::Memory {
  static Sound& sound(void* user) { return *static_cast<Sound*>(user); }
  static int64_t size(void* user) { return sound(user).size_; }
  static int64_t seek(int64_t offset, int whence, void* user) {
    Sound& s = sound(user);
    const int64_t base = whence == SEEK_SET ? 0 : whence == SEEK_CUR ? s.at_ : s.size_;
    int64_t to = 0;
    if (__builtin_add_overflow(base, offset, &to)) to = s.size_;
    return s.at_ = std::clamp<int64_t>(to, 0, s.size_);
  }
  static int64_t read(void* to, int64_t bytes, void* user) {
    Sound& s = sound(user);
    const int64_t n = std::clamp<int64_t>(bytes, 0, s.size_ - s.at_);
    if (n) std::memcpy(to, s.data_ + s.at_, size_t(n));
    s.at_ += n;
    return n;
  }
  static int64_t write(const void*, int64_t, void*) { return 0; }
  static int64_t tell(void* user) { return sound(user).at_; }
};

Sound::Sound(const uint8_t* data, size_t size, int64_t max_samples) : data_(data), size_(int64_t(size)) {
  const SndLibrary& library = SndLibrary::get();
  if (!size) fail(ErrorKind::decode, "the file is empty");
  static SndSource source{Memory::size, Memory::seek, Memory::read, Memory::write, Memory::tell};
  file_ = library.open_virtual(&source, kSndRead, &info_, this);
  if (!file_) give_up("");
  std::string problem;
  if (info_.channels < 1 || info_.samplerate < 1 || info_.frames < 0)
    problem = "its header says " + std::to_string(info_.channels) + " channels, a rate of " +
              std::to_string(info_.samplerate) + " and " + std::to_string(info_.frames) + " samples";
  else if ((info_.frames == 0 || info_.frames == INT64_MAX) &&        // the latter: libsndfile before 1.2.1
           (info_.format & kSndTypes) == kSndOgg)
    problem = "it has no samples, or its last page is missing";
  else if (info_.frames > max_samples / info_.channels)
    problem = "it has " + std::to_string(info_.frames) + " samples of " + std::to_string(info_.channels) +
              " channels, more than the limit of " + std::to_string(max_samples) +
              " (set by penstock.backend.set_max_decoded_pixels or PENSTOCK_MAX_PIXELS)";
  if (problem.empty()) return;
  library.close(file_);
  file_ = nullptr;
  fail(ErrorKind::decode, "this sound cannot be decoded: " + problem);
}

Sound::~Sound() {
  if (file_) SndLibrary::get().close(file_);
}

void Sound::skip(int64_t frames) {
  if (!frames) return;
  done_ += frames;
  if (SndLibrary::get().seek(file_, done_, SEEK_SET) != done_) give_up("");
}

void Sound::read(float* to, int64_t frames) {
  const int type = info_.format & kSndTypes;
  // Of other files the bytes may lie otherwise: RIFX has the highest first.
  if ((type == kSndWav || type == kSndWavExtensible) && !std::memcmp(data_, "RIFF", 4))
    switch (info_.format & kSndSubtypes) {
      case kSndPcm16: return read_pcm<2>(to, frames);
      case kSndPcm24: return read_pcm<3>(to, frames);
      case kSndPcm32: return read_pcm<4>(to, frames);
      default: break;
    }
  read(SndLibrary::get().readf_float, to, frames);
}

// libsndfile takes them one by one, which takes most of the time.
template <int kBytes> void Sound::read_pcm(float* to, int64_t frames) {
  constexpr int64_t kPiece = 3 << 13;                // bytes that stay in the first cache
  uint8_t piece[kPiece];
  const int64_t frame = kBytes * info_.channels;
  if (frame > kPiece) return read(SndLibrary::get().readf_float, to, frames);
  while (frames > 0) {
    const int64_t bytes = SndLibrary::get().read_raw(file_, piece, std::min(frames, kPiece / frame) * frame);
    if (bytes < frame) fail_short();
    const int64_t n = bytes / frame;
    shares_of_largest<kBytes>(piece, n * info_.channels, to);
    to += n * info_.channels;
    done_ += n;
    frames -= n;
  }
}

template <class T> void Sound::read(int64_t (*function)(SndFile*, T*, int64_t), T* to, int64_t frames) {
  while (frames > 0) {
    const int64_t n = function(file_, to, frames);
    if (n <= 0) fail_short();
    to += n * info_.channels;
    done_ += n;
    frames -= n;
  }
}
template void Sound::read(int64_t (*)(SndFile*, float*, int64_t), float*, int64_t);
template void Sound::read(int64_t (*)(SndFile*, int16_t*, int64_t), int16_t*, int64_t);
template void Sound::read(int64_t (*)(SndFile*, int32_t*, int64_t), int32_t*, int64_t);

void Sound::fail_short() const {
  give_up("it ends after " + std::to_string(done_) + " of " + std::to_string(info_.frames) + " samples");
}

void Sound::give_up(const std::string& why) const {
  std::string text = why;
  if (text.empty()) {
    const char* words = SndLibrary::get().strerror(file_);
    text = words ? words : "libsndfile refuses it";
    while (!text.empty() && (text.back() == '.' || text.back() == '\n')) text.pop_back();
  }
  fail(ErrorKind::decode, "this sound cannot be decoded: " + text);
}

}  // namespace ps
