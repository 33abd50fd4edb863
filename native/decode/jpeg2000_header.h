// What stands before the packets of a JPEG 2000 file; OpenJPEG is not needed for that.
#pragma once

#include <cstddef>
#include <cstdint>

#include "decode/image.h"

namespace ps::jpeg2000 {

bool is_file(const uint8_t* data, size_t size);      // JP2: boxes, one of which holds a codestream
bool is_stream(const uint8_t* data, size_t size);    // a bare codestream

// Throws Error(decode): truncated, or nothing that is decoded.
ImageInfo peek(const uint8_t* data, size_t size);

// A file may claim any number of tiles, layers and resolutions, and the library would go through them all. Each
// combination is a packet, which takes a byte at the least: throws Error(decode) where the file is too short for them.
void check_packets(const uint8_t* data, size_t size);

}  // namespace ps::jpeg2000
