// What the software driver's calls may return, in the driver's numbers, and how it gets out of them.
#pragma once

#include "cuda/driver/driver.h"

namespace software_gpu {

using namespace ps::gpu;

inline constexpr CUresult kInvalidValue = 1, kNotInitialized = 3, kNoDevice = 100, kInvalidDevice = 101,
                          kInvalidImage = 200, kInvalidContext = 201, kInvalidHandle = 400, kNotFound = 500,
                          kNotPermitted = 800;

struct Failure {
  CUresult code;
};

inline void require(bool condition, CUresult otherwise = kInvalidValue) {
  if (!condition) throw Failure{otherwise};
}

}  // namespace software_gpu
