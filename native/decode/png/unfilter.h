// The filters of PNG's rows, undone.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ps::png {

inline constexpr size_t kRowMargin = 16;     // bytes that may be read and written behind a row

// From a filtered row, without the byte that says how, to the bytes that were filtered; `above` is the row before, or
// zeros. Pixels have 1, 2, 3, 4, 6 or 8 bytes, where they have fewer bits than 8 one byte. False: no such filter.
bool unfilter(uint8_t filter, const uint8_t* row, const uint8_t* above, uint8_t* to, size_t bytes, int pixel_bytes);

}  // namespace ps::png
