#include "decode/limit.h"

#include <atomic>
#include <cstdlib>

namespace ps {
namespace {

constexpr int64_t kDefault = int64_t(1) << 29;
std::atomic<int64_t> set_limit{0};

}  // namespace

int64_t max_decoded_pixels() {
  if (const int64_t set = set_limit.load(std::memory_order_relaxed)) return set;
  const char* text = std::getenv("PENSTOCK_MAX_PIXELS");
  const int64_t value = text ? std::strtoll(text, nullptr, 10) : 0;
  return value > 0 ? value : kDefault;
}

void set_max_decoded_pixels(int64_t pixels) { set_limit.store(pixels, std::memory_order_relaxed); }

}  // namespace ps
