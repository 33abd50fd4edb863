// Decoders of many videos, kept between sequences at the places where they are, for who needs them next.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <utility>

#include "read/containers.h"

namespace ps {

// The frames from the first to the last of a sequence of a video, by its number. A decoder of its own would begin with
// the frame `begin`.
struct Stretch {
  int64_t video, begin, first, last;
};

// V: a Video, or one on a GPU.
template <class V> class Kept {
 public:
  explicit Kept(size_t most) : idle_(most) {}

  // Calls `use` with a decoder of the video, which ends behind the last frame; `make` gives a new one.
  template <class Make, class Use> void with(const Stretch& s, Make make, Use use) {
    idle_.give_back(used(s, idle_.take(s.video, s.first), make, use));
  }

  // Likewise; but where another thread's decoder is on its way to a place between `begin` and the first frame, it is
  // waited for, and goes on here. It comes no later than one that decodes all of that itself, where none of these
  // frames can be passed over, and what decodes has no more to do than each frame once.
  template <class Make, class Use> void follow(const Stretch& s, Make make, Use use) {
    Run mine(*this, s);
    auto video = mine.end(used(s, mine.start(), make, use));
    if (video) idle_.give_back(std::move(video));
  }

 private:
  static constexpr std::chrono::seconds kPatience{2};    // longer, and who has it may wait for a file for ever

  struct Pending {
    Stretch stretch;
    bool followed = false;                         // somebody waits for the decoder
    bool over = false;
    std::unique_ptr<V> video;                      // for who waits
  };

  // One that is under way, for others to follow. Nobody waits but for those who came before, so somebody always goes
  // on.
  class Run {
   public:
    Run(Kept& kept, const Stretch& s) : kept_(kept) {
      std::lock_guard lock(kept_.mutex_);
      before_ = kept_.before(s);
      if (before_) before_->followed = true;
      mine_->stretch = s;
      kept_.pending_.push_back(mine_);
    }
    // Where this has failed, there is nothing to pass on.
    ~Run() { end(nullptr); }
    Run(const Run&) = delete;
    Run& operator=(const Run&) = delete;

    std::unique_ptr<V> start() {
      if (before_) {
        std::unique_lock lock(kept_.mutex_);
        kept_.over_.wait_for(lock, kPatience, [&] { return before_->over; });
        before_->followed = false;
        if (before_->video) return std::move(before_->video);
      }
      return kept_.idle_.take(mine_->stretch.video, mine_->stretch.first);
    }
    // Passes the decoder on to who waits for it, or gives it back where nobody does.
    std::unique_ptr<V> end(std::unique_ptr<V> video) {
      std::lock_guard lock(kept_.mutex_);
      if (mine_->over) return video;
      mine_->over = true;
      kept_.pending_.remove(mine_);
      if (!mine_->followed) return video;
      mine_->video = std::move(video);
      kept_.over_.notify_all();
      return nullptr;
    }

   private:
    Kept& kept_;
    const std::shared_ptr<Pending> mine_ = std::make_shared<Pending>();
    std::shared_ptr<Pending> before_;              // null: there is none to wait for
  };

  // The pending one that ends nearest before this, if no idle decoder is as near.
  std::shared_ptr<Pending> before(const Stretch& s) {
    std::shared_ptr<Pending> best;
    for (const auto& p : pending_) {
      const Stretch& other = p->stretch;
      if (p->followed || other.video != s.video || other.last < s.begin || other.last >= s.first) continue;
      if (!best || other.last > best->stretch.last) best = p;
    }
    return best && idle_.has(s.video, best->stretch.last + 1, s.first) ? nullptr : best;
  }

  template <class Make, class Use>
  static std::unique_ptr<V> used(const Stretch& s, std::unique_ptr<V> video, Make& make, Use& use) {
    if (!video) {
      video = make();
      video->container = s.video;
    }
    use(*video);
    video->place = s.last + 1;
    return video;
  }

  Containers<V> idle_;
  std::mutex mutex_;
  std::condition_variable over_;
  std::list<std::shared_ptr<Pending>> pending_;
};

}  // namespace ps
