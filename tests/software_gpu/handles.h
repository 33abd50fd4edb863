// Objects by their handles. A handle is a number that is given once and points nowhere: one that was destroyed, or that
// is of another kind, is found out.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

#include "failure.h"

namespace software_gpu {

inline std::atomic<uint64_t> last_handle{uint64_t(0x5c) << 56};

template <class Handle, class T> class Handles {
 public:
  Handle add(std::shared_ptr<T> object) {
    const Handle handle = reinterpret_cast<Handle>(last_handle += 16);
    std::lock_guard lock(mutex_);
    objects_.emplace(handle, std::move(object));
    return handle;
  }

  std::shared_ptr<T> find(Handle handle) {
    std::lock_guard lock(mutex_);
    const auto it = objects_.find(handle);
    require(it != objects_.end(), kInvalidHandle);
    return it->second;
  }

  std::shared_ptr<T> remove(Handle handle) {
    std::lock_guard lock(mutex_);
    auto node = objects_.extract(handle);
    require(!node.empty(), kInvalidHandle);
    return std::move(node.mapped());
  }

  template <class F> void remove_if(F condition) {
    std::lock_guard lock(mutex_);
    std::erase_if(objects_, [&](const auto& entry) { return condition(*entry.second); });
  }

 private:
  std::mutex mutex_;
  std::map<Handle, std::shared_ptr<T>> objects_;
};

}  // namespace software_gpu
