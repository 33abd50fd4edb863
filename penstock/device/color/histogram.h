// How often each value is in a part of a picture. A block counts one part, in shared memory.
#pragma once

#include "device/base/base.h"
#include "device/base/lanes.h"

namespace ps::device {

inline constexpr int kGrays = 256, kHistogramThreads = 256;

#if !PS_HOST
// A Job has `counts`, kGrays for each part, and visit(), which gives the values of this thread's share.
template <class Job> PS_FN void run_histograms(const Launch& l) {
  PS_SHARED_MEMORY(memory);
  auto* counts = reinterpret_cast<uint32_t*>(memory);
  const int sample = find_sample(l);
  const auto& job = *reinterpret_cast<const Job*>(l.jobs + int64_t(l.stride) * sample);
  const int64_t part = block() - l.first_block[sample];
  for (int v = thread(); v < kGrays; v += threads()) counts[v] = 0;
  sync();
  job.visit(part, [&](uint8_t value) { fetch_increment(counts + value); });
  sync();
  for (int v = thread(); v < kGrays; v += threads()) job.counts[part * kGrays + v] = counts[v];
}
#define PS_HISTOGRAM_KERNEL(Job) \
  PS_KERNEL kernel(ps::device::Launch launch) { ps::device::run_histograms<ps::device::Job>(launch); }
#endif

}  // namespace ps::device
