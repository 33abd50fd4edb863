// Counter-based random numbers: the same (key, sample, epoch) gives the same numbers on any thread, device or
// machine. Philox4x32-10 of Salmon, Moraes, Dror and Shaw, "Parallel Random Numbers: As Easy as 1, 2, 3" (SC11).
#pragma once

#include <cmath>
#include <cstdint>

namespace ps {

class Philox {
 public:
  Philox(uint64_t key, int64_t sample, int64_t epoch)
      : key_{uint32_t(key), uint32_t(key >> 32)}, sample_(uint64_t(sample)), epoch_(uint32_t(epoch)) {}

  uint32_t next() {
    if (used_ == 4) refill();
    return block_[used_++];
  }
  uint64_t next64() { const uint64_t hi = next(); return hi << 32 | next(); }

  // Uniform in [0, 1): 24 and 53 bits.
  float uniform() { return float(next() >> 8) * 0x1p-24f; }
  double uniform64() { return double(next64() >> 11) * 0x1p-53; }
  double uniform(double lo, double hi) { return lo + (hi - lo) * uniform64(); }

  // Uniform integer in [0, n), n > 0, without modulo bias worth measuring (n is far below 2^64).
  uint64_t below(uint64_t n) { return uint64_t((unsigned __int128)(next64()) * n >> 64); }

  // Standard normal (Box-Muller; both halves are used).
  double normal() {
    if (has_spare_) { has_spare_ = false; return spare_; }
    const double r = std::sqrt(-2.0 * std::log(1.0 - uniform64())), a = 6.283185307179586476925 * uniform64();
    spare_ = r * std::sin(a);
    has_spare_ = true;
    return r * std::cos(a);
  }

 private:
  void refill() {
    uint32_t c[4] = {counter_++, epoch_, uint32_t(sample_), uint32_t(sample_ >> 32)};
    uint32_t k0 = key_[0], k1 = key_[1];
    for (int round = 0; round < 10; round++) {
      const uint64_t p0 = uint64_t(0xD2511F53u) * c[0], p1 = uint64_t(0xCD9E8D57u) * c[2];
      const uint32_t n0 = uint32_t(p1 >> 32) ^ c[1] ^ k0, n2 = uint32_t(p0 >> 32) ^ c[3] ^ k1;
      c[1] = uint32_t(p1); c[3] = uint32_t(p0); c[0] = n0; c[2] = n2;
      k0 += 0x9E3779B9u; k1 += 0xBB67AE85u;
    }
    for (int i = 0; i < 4; i++) block_[i] = c[i];
    used_ = 0;
  }

  uint32_t key_[2];
  uint64_t sample_;
  uint32_t epoch_, counter_ = 0, block_[4] = {};
  int used_ = 4;
  bool has_spare_ = false;
  double spare_ = 0;
};

}  // namespace ps
