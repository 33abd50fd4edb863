// Random numbers, element by element of elements.h: one block of random bits each, which gives several numbers. The CPU
// runs the very same.
#pragma once

#include "device/base/philox.h"
#include "device/tensor/elements.h"

namespace ps::device {

struct Drawn {                         // the output
  PhiloxSequence random;
  void* out;
  int64_t count;
};

// Stores numbers kPer * block, ... as get(k) gives them.
template <int kPer, class T, class Get> PS_FN void store(const Drawn& d, int64_t block, Get get) {
  T* out = static_cast<T*>(d.out) + block * kPer;
  if ((block + 1) * kPer <= d.count) {
    PS_UNROLL
    for (int k = 0; k < kPer; k++) out[k] = get(k);
  } else {
    for (int k = 0; block * kPer + k < d.count; k++) out[k] = get(k);
  }
}

}  // namespace ps::device
