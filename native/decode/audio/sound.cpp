#include "decode/audio/sound.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "core/error.h"

namespace ps {

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
  else if (info_.frames == 0 && (info_.format & kSndTypes) == kSndOgg)
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

template <class T> void Sound::read(int64_t (*function)(SndFile*, T*, int64_t), T* to, int64_t frames) {
  while (frames > 0) {
    const int64_t n = function(file_, to, frames);
    if (n <= 0)
      give_up("it ends after " + std::to_string(done_) + " of " + std::to_string(info_.frames) + " samples");
    to += n * info_.channels;
    done_ += n;
    frames -= n;
  }
}
template void Sound::read(int64_t (*)(SndFile*, float*, int64_t), float*, int64_t);
template void Sound::read(int64_t (*)(SndFile*, int16_t*, int64_t), int16_t*, int64_t);
template void Sound::read(int64_t (*)(SndFile*, int32_t*, int64_t), int32_t*, int64_t);

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
