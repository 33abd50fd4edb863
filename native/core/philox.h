// A sequence of random numbers: the same (key, sample, epoch) gives the same one on any thread, device or machine.
#pragma once

#include <cstdint>

#include "device/base/philox.h"

namespace ps {

class Philox {
 public:
  Philox(uint64_t key, int64_t sample, int64_t epoch) : sequence_{key, uint64_t(sample), uint32_t(epoch)} {}
  const device::PhiloxSequence& sequence() const { return sequence_; }

  uint32_t next() {
    if (used_ == 4) {
      block_ = sequence_.block(counter_++);
      used_ = 0;
    }
    return block_.w[used_++];
  }
  uint64_t next64() { const uint64_t hi = next(); return hi << 32 | next(); }

  double uniform64() { return device::uniform53(next64()); }
  uint64_t below(uint64_t n) { return device::below(next64(), n); }

  // Standard normal; both numbers of a pair are used.
  double normal() {
    if (has_spare_) { has_spare_ = false; return spare_; }
    device::PhiloxWords words;
    for (uint32_t& w : words.w) w = next();
    const device::NormalPair pair = device::normal_pair(words);
    spare_ = pair.v[1];
    has_spare_ = true;
    return pair.v[0];
  }

 private:
  device::PhiloxSequence sequence_;
  uint32_t counter_ = 0;
  device::PhiloxWords block_ = {};
  int used_ = 4;
  bool has_spare_ = false;
  double spare_ = 0;
};

}  // namespace ps
