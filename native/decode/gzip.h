// Gzip and zlib streams.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ps {

// Writes exactly `size` bytes. Throws Error(decode) where the stream is broken or has another number of bytes, and
// Error(unsupported) where zlib is missing.
void inflate_gzip(const uint8_t* in, size_t bytes, uint8_t* out, size_t size);

}  // namespace ps
