// What a reader knows of a container that gives many samples, kept between them: an open archive, or a video's decoder.
//
// States belong to places in containers, not to threads: reading a sample takes the nearest earlier state, uses it
// exclusively, and returns it at its new place. So samples that follow each other go on where the last one
// ended, whichever threads read them, and samples of one container that are read at one time have states of their own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <utility>

namespace ps {

// T has members `container` and `place`: where it is, and so what it gives soonest.
template <class T>
class Containers {
 public:
  explicit Containers(size_t most) : most_(most) {}

  // That of the container which is at this place or nearest before it, else any of the container; null: none is there.
  std::unique_ptr<T> take(int64_t container, int64_t place) {
    std::lock_guard lock(mutex_);
    auto best = idle_.end();
    for (auto one = idle_.begin(); one != idle_.end(); ++one) {
      if ((*one)->container != container) continue;
      if (best == idle_.end() || nearer(**one, **best, place)) best = one;
    }
    if (best == idle_.end()) return nullptr;
    std::unique_ptr<T> found = std::move(*best);
    idle_.erase(best);
    return found;
  }

  // The one that lies unused for longest goes when there are too many.
  void give_back(std::unique_ptr<T> one) {
    std::unique_ptr<T> surplus;                    // its destructor may wait for a disk, so without the lock
    std::lock_guard lock(mutex_);
    idle_.push_back(std::move(one));
    if (idle_.size() <= most_) return;
    surplus = std::move(idle_.front());
    idle_.pop_front();
  }

 private:
  static bool nearer(const T& a, const T& b, int64_t place) {
    const bool before_a = a.place <= place, before_b = b.place <= place;
    return before_a != before_b ? before_a : a.place > b.place;
  }

  size_t most_;
  std::mutex mutex_;
  std::list<std::unique_ptr<T>> idle_;             // the last used at the end
};

}  // namespace ps
