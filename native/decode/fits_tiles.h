// Images in FITS files that are compressed tile by tile, as the rows of a table.
#pragma once

#include <vector>

#include "read/fits.h"

namespace ps {

// Decodes all tiles into the stored pixels, in this machine's byte order. Throws Error(decode), or Error(unsupported)
// for the algorithms PLIO_1 and HCOMPRESS_1.
void decode_fits_tiles(const Bytes& file, const FitsUnit& unit, const FitsImage& image, void* to);

}  // namespace ps
