// Rice's code, as FITS has it: differences of neighbours, of which blocks share the number of bits that are not counted
// in zeros.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ps {

// Pixels of 1, 2 or 4 bytes, into integers of 32 bits. Throws Error(decode).
void decode_rice(const uint8_t* in, size_t bytes, int pixel_bytes, int64_t block, int32_t* to, int64_t count);

}  // namespace ps
