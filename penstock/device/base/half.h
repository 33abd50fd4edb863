// Half-precision floats, without CUDA's headers.
#pragma once

#include "device/base/base.h"

namespace ps::device {

#if defined(__CUDACC_RTC__)
struct half {
  uint16_t bits;
  half() = default;
  PS_FN explicit half(float v) { asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(v)); }
  PS_FN explicit half(double v) { asm("cvt.rn.f16.f64 %0, %1;" : "=h"(bits) : "d"(v)); }
  PS_FN operator float() const {
    float v;
    asm("cvt.f32.f16 %0, %1;" : "=f"(v) : "h"(bits));
    return v;
  }
};
#elif defined(__aarch64__) && !defined(__clang__) && __GNUC__ < 13
using half = __fp16;           // GCC 12's name on ARM: the same numbers
#else
using half = _Float16;
#endif

}  // namespace ps::device
