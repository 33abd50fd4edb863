// The orientation that a camera has recorded.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ps {

// `tiff` is the TIFF structure inside an EXIF block ("II*\0" or "MM\0*" onwards). 1 to 8; 1 where there is none, or
// nonsense: a wrong entry must not keep a picture from being decoded.
int exif_orientation(const uint8_t* tiff, size_t size);

}  // namespace ps
