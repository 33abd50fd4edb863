// A kernel that does each element of the output by itself: `F` is a functor whose fields the host has filled in,
// and element(i) computes and stores element i.
#pragma once

#include "device/base/convert.h"

namespace ps::device {

inline constexpr int kElementThreads = 256, kElementsPerThread = 8;

template <class F> struct ElementJob {
  int64_t count;
  F functor;
};

#if !PS_HOST
template <class F> PS_FN void run_elements(const Launch& l) {
  const int sample = find_sample(l);
  const auto& job = *reinterpret_cast<const ElementJob<F>*>(l.jobs + int64_t(l.stride) * sample);
  constexpr int per_block = kElementThreads * kElementsPerThread;
  const int64_t begin = int64_t(block() - l.first_block[sample]) * per_block;
  const int64_t end = min(begin + per_block, job.count);
  const F f = job.functor;
  for (int64_t i = begin + thread(); i < end; i += threads()) f.element(i);
}
#define PS_ELEMENT_KERNEL(...) \
  PS_KERNEL kernel(ps::device::Launch launch) { ps::device::run_elements<__VA_ARGS__>(launch); }
#endif

}  // namespace ps::device
