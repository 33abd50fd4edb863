#include "core/reserve.h"

#include <functional>

namespace ps {

void* Reserve::take(size_t bytes) {
  for (Chunk& c : chunks_) {
    if (c.bytes - c.used < bytes) continue;
    void* piece = c.data + c.used;
    c.used += bytes;
    c.pieces++;
    return piece;
  }
  return nullptr;
}

bool Reserve::give(void* piece) {
  const std::less<> before;
  for (Chunk& c : chunks_) {
    if (before(piece, c.data) || !before(piece, c.data + c.bytes)) continue;
    if (--c.pieces == 0) c.used = 0;
    return true;
  }
  return false;
}

size_t Reserve::release(Allocator& allocator) {
  size_t bytes = 0;
  std::erase_if(chunks_, [&](const Chunk& c) {
    if (c.pieces) return false;
    allocator.free(c.data, c.bytes);
    bytes += c.bytes;
    return true;
  });
  return bytes;
}

}  // namespace ps
