// LZ4's block format.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ps {

// Writes exactly `size` bytes. Throws Error(decode) where the block is broken, or has another number of bytes.
void inflate_lz4(const uint8_t* in, size_t bytes, uint8_t* out, size_t size);

}  // namespace ps
