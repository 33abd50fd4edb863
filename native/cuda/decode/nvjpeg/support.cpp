// Which JPEG files go to the GPU.
#include <cstring>

#include "cuda/decode/nvjpeg/batched.h"

namespace ps::gpu {
namespace {

// Smaller pictures are decoded faster by the CPU; larger ones engines refuse.
constexpr int kSmallest = 64, kLargest = 16384;

bool known_sampling(const jpeg::Header& h) {
  if (h.components == 1) return true;
  const jpeg::Component *y = &h.component[0], *cb = y + 1, *cr = y + 2;
  return y->h <= 2 && y->v <= 2 && cb->h == 1 && cb->v == 1 && cr->h == 1 && cr->v == 1;
}

// What baseline permits: two tables of each kind, numbers of 8 bits in those for quantisation.
bool baseline_tables(const jpeg::Header& h) {
  for (int i = 0; i < h.components; i++) {
    const jpeg::Component& c = h.component[i];
    if (c.dc > 1 || c.ac > 1) return false;
    for (int k = 0; k < 64; k++)
      if (h.quant[c.quant][k] > 255) return false;
  }
  return true;
}

// A truncated file has no end marker behind its scan. The CPU's decoder reports that to the user; what an engine makes
// of it is undefined. Usually the marker is the last thing in the file, so this is quick.
bool has_end(const uint8_t* data, size_t size, size_t scan) {
  while (size > scan + 1) {
    const auto* ff = static_cast<const uint8_t*>(memrchr(data + scan, 0xFF, size - 1 - scan));
    if (!ff) return false;
    if (ff[1] == 0xD9) return true;
    size = size_t(ff - data) + 1;
  }
  return false;
}

}  // namespace

bool takes_jpeg(const uint8_t* data, size_t size, const jpeg::Header& h) {
  return h.supported && h.baseline && (h.components == 1 || h.ycc) && h.width >= kSmallest && h.height >= kSmallest &&
         h.width <= kLargest && h.height <= kLargest && known_sampling(h) && baseline_tables(h) &&
         has_end(data, size, h.scan);
}

bool takes_jpeg(const uint8_t* data, size_t size) {
  thread_local jpeg::Header header;
  return jpeg::parse(data, size, header) && takes_jpeg(data, size, header);
}

}  // namespace ps::gpu
