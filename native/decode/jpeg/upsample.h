// Brings the rows of a subsampled component to the picture's size, as libjpeg does it.
#pragma once

#include <cstdint>

namespace ps::jpeg {

// Each sample `factor` times. `n` is the number of samples taken.
void replicate(const uint8_t* in, int factor, int n, uint8_t* out);

// The triangle filter ("fancy upsampling"), by 2 along one axis or both. Samples in[-1] and in[n] (and those of `far`)
// are read. `far` is the neighbouring row that is nearer to the row wanted: the one above for even rows.
void triangle_h2(const uint8_t* in, int n, uint8_t* out);
void triangle_v2(const uint8_t* near, const uint8_t* far, bool odd_row, int n, uint8_t* out);
void triangle_h2v2(const uint8_t* near, const uint8_t* far, int n, uint8_t* out);

}  // namespace ps::jpeg
