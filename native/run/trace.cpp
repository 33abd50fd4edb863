#include "run/trace.h"

#include <algorithm>

namespace ps {

// Rings stay as they are from one recording to the next: a thread may still be writing the last span of the one before.
void Trace::start() {
  for (Ring& r : rings_)
    if (!r.spans) r.spans = std::make_unique<std::array<Span, kSpans>>();
  on_.store(true, std::memory_order_release);
}

void Trace::add(int thread, Did did, int at, int64_t batch, int sample, int64_t start_ns, int64_t end_ns) {
  Ring& r = rings_[size_t(thread)];
  const uint64_t here = r.written.load(std::memory_order_relaxed);
  if (here - r.read.load(std::memory_order_acquire) == kSpans) {
    lost_.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  (*r.spans)[here % kSpans] = {start_ns, end_ns, batch, thread, did, at, sample};
  r.written.store(here + 1, std::memory_order_release);
}

void Trace::add_device(int segment, int64_t batch, int64_t start_ns, int64_t end_ns) {
  add(device, Did::device, segment, batch, -1, std::max(start_ns, device_end_ns_), end_ns);
  device_end_ns_ = end_ns;
}

int Trace::read(Span* to, int most) {
  int count = 0;
  for (Ring& r : rings_) {
    const uint64_t first = r.read.load(std::memory_order_relaxed);
    const uint64_t end = std::min(r.written.load(std::memory_order_acquire), first + uint64_t(most - count));
    for (uint64_t i = first; i < end; i++) to[count++] = (*r.spans)[i % kSpans];
    r.read.store(end, std::memory_order_release);
  }
  return count;
}

}  // namespace ps
