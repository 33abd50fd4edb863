// How many pixels a picture may have: a header can claim any number, and memory is taken before the first one is there.
#pragma once

#include <cstdint>

namespace ps {

// The limit set last, or else 2^29. Decoders read it when they are made.
int64_t max_decoded_pixels();
void set_max_decoded_pixels(int64_t pixels);

}  // namespace ps
