// Decoders of many videos, kept between sequences at the places where they are, for who needs them next.
#pragma once

#include <memory>
#include <utility>

#include "read/containers.h"

namespace ps {

// V: a Video, or one on a GPU.
template <class V> class Kept {
 public:
  explicit Kept(size_t most) : idle_(most) {}

  // Calls `use` with a decoder of this video, which ends behind frame `last`; `make` gives a new one.
  template <class Make, class Use> void with(int64_t number, int64_t first, int64_t last, Make make, Use use) {
    std::unique_ptr<V> video = idle_.take(number, first);
    if (!video) {
      video = make();
      video->container = number;
    }
    use(*video);
    video->place = last + 1;
    idle_.give_back(std::move(video));
  }

 private:
  Containers<V> idle_;
};

}  // namespace ps
