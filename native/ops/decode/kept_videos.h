// Decoders of many videos, kept between sequences at the places where they are, for who needs them next.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <thread>
#include <utility>

#include "decode/video/video.h"
#include "read/containers.h"
#include "read/in_turn.h"

namespace ps {

class KeptVideos {
 public:
  explicit KeptVideos(size_t most) : idle_(most) {}

  // Calls `use` with a decoder of this video; `open` gives the bytes for a new one. `chained`: what follows these
  // frames is soon wanted, too, and key frames are far apart. Of such a group of frames one decoder alone has something
  // to do, so it gets threads, and others wait for it.
  template <class Open, class Use>
  void with(int64_t number, const VideoIndex& index, int64_t first, int64_t last, bool chained, Open open, Use use) {
    std::optional<InTurn::Turn> turn;
    if (chained) turn.emplace(in_turn_, number, first, last + 1, index.key_before(first));
    std::unique_ptr<Video> video = idle_.take(number, first);
    if (!video) {
      const int threads = chained ? int(std::clamp(std::thread::hardware_concurrency(), 1u, kMostThreads)) : 1;
      video = std::make_unique<Video>(open(), index, threads);
      video->container = number;
    }
    use(*video);
    video->place = last + 1;
    idle_.give_back(std::move(video));
  }

 private:
  static constexpr unsigned kMostThreads = 4;      // of one decoder
  Containers<Video> idle_;
  InTurn in_turn_;
};

}  // namespace ps
