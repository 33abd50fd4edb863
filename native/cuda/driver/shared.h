// Objects that all users at the same time share: NVIDIA's decoders take long to make.
#pragma once

#include <map>
#include <memory>
#include <mutex>

namespace ps::gpu {

// An object is destroyed with the last reference to it.
template <class Key, class T>
class Shared {
 public:
  // One map for each kind, which lives as long as the process.
  template <class Make>
  static std::shared_ptr<T> get(const Key& key, Make make) {
    static auto* all = new Shared;
    std::lock_guard lock(all->mutex_);
    std::weak_ptr<T>& known = all->known_[key];
    std::shared_ptr<T> found = known.lock();
    if (!found) known = found = make();
    return found;
  }

 private:
  std::mutex mutex_;
  std::map<Key, std::weak_ptr<T>> known_;
};

}  // namespace ps::gpu
