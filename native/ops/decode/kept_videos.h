// Decoders of many videos, kept between sequences at the places where they are, for who needs them next.
#pragma once

#include <memory>
#include <utility>

#include "decode/video/video.h"
#include "read/containers.h"

namespace ps {

class KeptVideos {
 public:
  explicit KeptVideos(size_t most) : idle_(most) {}

  // Calls `use` with a decoder of this video, which ends behind frame `last`; `open` gives the bytes for a new one.
  template <class Open, class Use>
  void with(int64_t number, const VideoIndex& index, int64_t first, int64_t last, Open open, Use use) {
    std::unique_ptr<Video> video = idle_.take(number, first);
    if (!video) {
      video = std::make_unique<Video>(open(), index);
      video->container = number;
    }
    use(*video);
    video->place = last + 1;
    idle_.give_back(std::move(video));
  }

 private:
  Containers<Video> idle_;
};

}  // namespace ps
