#include "decode/video/video.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/error.h"
#include "decode/limit.h"
#include "decode/video/library.h"

namespace ps {

VideoBytes::VideoBytes(std::unique_ptr<StoredFile> file) : file_(std::move(file)) {
  source_ = {this, file_->bytes(), [](void* user, int64_t at, void* to, int64_t most) {
               return static_cast<VideoBytes*>(user)->read(at, to, most);
             }};
}

VideoBytes::VideoBytes(const void* data, size_t bytes) : data_(static_cast<const uint8_t*>(data)) {
  source_ = {this, int64_t(bytes), [](void* user, int64_t at, void* to, int64_t most) {
               return static_cast<VideoBytes*>(user)->read(at, to, most);
             }};
}

int64_t VideoBytes::read(int64_t at, void* to, int64_t most) {
  if (data_) {
    const int64_t n = std::clamp<int64_t>(source_.bytes - at, 0, most);
    if (n) std::memcpy(to, data_ + at, size_t(n));
    return n;
  }
  try {
    return file_->read(at, to, most);
  } catch (...) {                            // it must not go through FFmpeg, which is C
    failure_ = std::current_exception();
    return -1;
  }
}

void VideoBytes::rethrow(const psv_failure& failure) {
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
  fail(ErrorKind(failure.kind), failure.text);
}

void VideoBytes::check_size(const VideoIndex& index) const {
  const int64_t now = source_.bytes, then = index.head().file_bytes;
  if (now != then)
    fail(ErrorKind::read, "it has " + std::to_string(now) + " bytes, and had " + std::to_string(then) +
         " when its index was made");
}

std::vector<int64_t> index_video(VideoBytes& bytes) {
  const psv_api& api = video_library();
  psv_failure failure{};
  const std::unique_ptr<psv_index, void (*)(psv_index*)> made(
      api.make_index(&bytes.source(), max_decoded_pixels(), &failure), api.free_index);
  if (!made) bytes.rethrow(failure);
  size_t size = 0;
  const void* data = api.index_data(made.get(), &size);
  std::vector<int64_t> block((size + 7) / 8);
  std::memcpy(block.data(), data, size);
  return block;
}

Video::Video(std::unique_ptr<VideoBytes> bytes, const VideoIndex& index) : bytes_(std::move(bytes)) {
  bytes_->check_size(index);
  psv_failure failure{};
  decoder_ = video_library().open(&bytes_->source(), index.data(), max_decoded_pixels(), &failure);
  if (!decoder_) bytes_->rethrow(failure);
}

Video::~Video() { video_library().close(decoder_); }

void Video::decode(const int64_t* frames, int64_t count,
                   const std::function<void(int64_t, const psv_picture&)>& take) {
  struct Taker {
    const std::function<void(int64_t, const psv_picture&)>& take;
    std::exception_ptr failure;
  } taker{take, nullptr};
  psv_failure failure{};
  const int good = video_library().decode(
      decoder_, frames, count,
      [](void* user, int64_t frame, const psv_picture* picture) {
        auto& t = *static_cast<Taker*>(user);
        try {
          t.take(frame, *picture);
          return 0;
        } catch (...) {
          t.failure = std::current_exception();
          return 1;
        }
      },
      &taker, &failure);
  if (taker.failure) std::rethrow_exception(taker.failure);
  if (!good) bytes_->rethrow(failure);
}

}  // namespace ps
