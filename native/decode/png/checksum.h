// The checksums of PNG: CRC-32 of its chunks, Adler-32 of what is unpacked. zlib's are right, too, but slow enough to
// be seen beside the rest of the decoder.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ps::png {

// Of bytes that follow those which gave `crc`, which is 0 at the start; likewise Adler-32, which is 1 at the start.
uint32_t crc32(uint32_t crc, const uint8_t* data, size_t size);
uint32_t adler32(uint32_t adler, const uint8_t* data, size_t size);

}  // namespace ps::png
