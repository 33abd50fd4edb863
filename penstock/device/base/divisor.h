// Division by a number that is known before the kernel runs: a multiplication and a shift, where 32 bits hold it all.
#pragma once

#include "device/base/base.h"

namespace ps::device {

class Divisor {
 public:
  Divisor() = default;
#if PS_HOST
  // Granlund's and Montgomery's way: shift = ceil(log2 d), multiplier = 2^32 (2^shift - d) / d + 1. d is positive.
  explicit Divisor(uint64_t d) : number_(d) {
    while (shift_ < 32 && (uint64_t(1) << shift_) < d) shift_++;
    if (d >> 32 == 0) multiplier_ = uint32_t((uint64_t(1) << 32) * ((uint64_t(1) << shift_) - d) / d + 1);
  }
#endif
  PS_FN uint64_t number() const { return number_; }
  PS_FN uint64_t quotient(uint64_t n) const {
    if ((n | number_) >> 32) return n / number_;
    return quotient(uint32_t(n));
  }
  // Where the caller knows that both fit.
  PS_FN uint32_t quotient(uint32_t n) const { return uint32_t(((uint64_t(n) * multiplier_ >> 32) + n) >> shift_); }
  PS_FN int quotient(int n) const {    // not negative
    const auto whole = uint32_t(n);
    return int((uint32_t(uint64_t(whole) * multiplier_ >> 32) + whole) >> shift_);
  }

 private:
  uint64_t number_ = 1;
  uint32_t multiplier_ = 1, shift_ = 0;
};

}  // namespace ps::device
