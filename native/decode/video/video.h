// Videos: their indexes, and frames of them.
#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "read/storage.h"
#include "video/api.h"
#include "video/index.h"

namespace ps {

// Bytes of a video for the library that decodes it: a file of any storage, or memory. What goes wrong while they are
// read is kept, and thrown when the library's call is over.
class VideoBytes {
 public:
  explicit VideoBytes(std::unique_ptr<StoredFile> file);
  VideoBytes(const void* data, size_t bytes);
  VideoBytes(const VideoBytes&) = delete;
  VideoBytes& operator=(const VideoBytes&) = delete;
  const psv_source& source() const { return source_; }
  // Throws Error(read) where the index was made of a file with another number of bytes.
  void check_size(const VideoIndex& index) const;
  [[noreturn]] void rethrow(const psv_failure& failure);

 private:
  int64_t read(int64_t at, void* to, int64_t most);
  std::unique_ptr<StoredFile> file_;
  const uint8_t* data_ = nullptr;
  std::exception_ptr failure_;
  psv_source source_{};
};

// The index as one block, aligned to 8 bytes. Throws Error.
std::vector<int64_t> index_video(VideoBytes& bytes);

// A decoder, which stays where it is between calls. `container` and `place` are for read/containers.h.
class Video {
 public:
  // The index must live as long.
  Video(std::unique_ptr<VideoBytes> bytes, const VideoIndex& index);
  ~Video();
  int64_t container = 0, place = 0;
  // Shows these frames, which rise. Throws Error; nothing else may be asked of it then.
  void decode(const int64_t* frames, int64_t count, const std::function<void(int64_t, const psv_picture&)>& take);

 private:
  std::unique_ptr<VideoBytes> bytes_;
  psv_decoder* decoder_;
};

}  // namespace ps
