// How many samples a group of several nodes took in one pass, as it is meant to, and what kept the others from that.
#pragma once

#include <array>
#include <atomic>
#include <vector>

#include "core/operator.h"
#include "run/stats.h"

namespace ps {

// Samples of one group. `why` is null for those in one pass; others went node by node, for this node's sake.
struct Passes {
  int first_node = -1, misfit_node = -1;
  Misfit why = fits;
  int64_t samples = 0;
};

// Of one group. One thread adds, or several in turn; others may look at any time.
class PassCounts {
 public:
  void add(int64_t samples) { in_one_ += samples; }
  void add(int64_t samples, int node, Misfit why) {
    Reason& r = reason(node, why);
    if (!r.why.load(std::memory_order_relaxed)) {
      r.node = node;
      r.why.store(&r == &reasons_.back() ? "this and other reasons" : why, std::memory_order_release);
    }
    r.samples += samples;
  }
  void list(int first_node, std::vector<Passes>& to) const {
    if (in_one_ > 0) to.push_back({first_node, -1, fits, in_one_});
    for (const Reason& r : reasons_)
      if (const Misfit why = r.why.load(std::memory_order_acquire)) to.push_back({first_node, r.node, why, r.samples});
  }

 private:
  struct Reason {
    std::atomic<Misfit> why{fits};       // null: nothing of this is there yet
    int node = -1;
    Counter samples;
  };
  Reason& reason(int node, Misfit why) {
    for (size_t i = 0; i + 1 < reasons_.size(); i++) {
      const Misfit known = reasons_[i].why.load(std::memory_order_relaxed);
      if (!known || (known == why && reasons_[i].node == node)) return reasons_[i];
    }
    return reasons_.back();
  }

  Counter in_one_;
  std::array<Reason, 8> reasons_;        // the last one is for all that are left
};

}  // namespace ps
