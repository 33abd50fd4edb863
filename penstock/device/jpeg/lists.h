// The coefficients of a scan between coefficients.h and transform.h: a list for each part, of what the scan
// has, a word for each symbol rather than 64 numbers for each block.
#pragma once

#include "device/jpeg/jpeg.h"

namespace ps::device {

// A word: bits 0-6 the coefficient's number in the file's order (above 63: none), 7-15 the number of the block within
// the part, 16-31 the value, which of number 0 does not count. A part's list is a column of vectors, 32 parts of them
// side by side, so that lanes write next to one another.
struct alignas(16) JpegListVector {
  static constexpr uint32_t kNothing = 127;
  uint32_t words[4];
};
inline constexpr uint32_t kJpegListParts = 32;
inline constexpr uint32_t kJpegListPartBits = 1024;                // at most: blocks have two bits at least

// The parts in which MCUs of a row lie that are transformed together.
struct JpegSpan {
  uint32_t begin, end;
};

#if !PS_HOST
PS_FN JpegListVector* list_of(const JpegPicture& p, uint32_t part) {
  return on_gpu(p.lists) + (uint64_t(part / kJpegListParts) * p.list_vectors * kJpegListParts + part % kJpegListParts);
}

// To the spans of MCUs that have blocks in this part: those from `begin` up to `end`.
PS_FN void note_spans(const JpegPicture& p, uint32_t part, uint32_t begin, uint32_t end) {
  const auto across = uint32_t(p.mcus_across), blocks = uint32_t(p.blocks_in_mcu), each = uint32_t(p.span_mcus);
  const uint32_t mcu = begin / blocks;
  uint32_t row = mcu / across, number = (mcu - row * across) / each;
  PS_LOOP while (true) {
    const uint32_t first = (row * across + number * each) * blocks;
    const uint32_t last = (row * across + min((number + 1) * each, across)) * blocks;
    if (first >= end) return;
    JpegSpan& span = on_gpu(p.spans)[row * uint32_t(p.spans_across) + number];
    if (first >= begin) span.begin = part;
    if (last <= end) span.end = part + 1;
    if (++number == uint32_t(p.spans_across)) number = 0, row++;
  }
}
#endif

}  // namespace ps::device
