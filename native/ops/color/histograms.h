// Counts of values, on a GPU.
#pragma once

#include <cstring>
#include <string>
#include <vector>

#include "cuda/record/layout.h"
#include "cuda/record/operator.h"
#include "device/color/histogram.h"

namespace ps {

// parts(c): how many a sample has; job(c): how they are counted, where there are some. `kernel` is the end of the
// kernel's text.
template <class Job, class Parts, class Make>
void record_histograms(gpu::Recorder& r, const std::string& header, const std::string& kernel, Parts parts, Make job) {
  constexpr size_t stride = (sizeof(Job) + 15) / 16 * 16;
  std::vector<uint8_t> jobs(stride * size_t(r.size()));
  std::vector<int> blocks(size_t(r.size()), 0);
  for (int i = 0; i < r.size(); i++) {
    const int64_t n = parts(r[i]);
    if (n > INT32_MAX) fail(ErrorKind::unsupported, "a sample has too many histograms");
    if (!n) continue;
    const Job made = job(r[i]);
    std::memcpy(jobs.data() + stride * size_t(i), &made, sizeof made);
    blocks[size_t(i)] = int(n);
  }
  r.launch("#include \"device/" + header + "\"\n" + PS_LAYOUT_OF(Launch) + kernel, blocks, jobs, stride,
           device::kHistogramThreads, device::kGrays * int(sizeof(uint32_t)));
}

}  // namespace ps
