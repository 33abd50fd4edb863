#include "decode/limit.h"

#include <atomic>

namespace ps {
namespace {

std::atomic<int64_t> limit{int64_t(1) << 29};

}  // namespace

int64_t max_decoded_pixels() { return limit.load(std::memory_order_relaxed); }

void set_max_decoded_pixels(int64_t pixels) { limit.store(pixels, std::memory_order_relaxed); }

}  // namespace ps
