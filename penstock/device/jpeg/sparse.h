// The coefficients of a scan between coefficients.h and transform.h, sparse: for each subsequence, 16 bits for each
// symbol rather than 64 numbers for each block.
#pragma once

#include "device/jpeg/jpeg.h"

namespace ps::device {

// Seven symbols, 16 bits each, behind 16 bits that say where the first one belongs: bits 0-6 how many of its block's
// coefficients are known, 7-15 the index of the block within the subsequence. A symbol: bits 0-10 the value (that of
// a block's first one, DC, is not used), 11-14 how many zeros come before it, 15 whether the block ends here. A
// subsequence's vectors are a column, and 32 columns lie side by side, so that lanes write next to one another.
struct alignas(16) JpegSparseVector {
  static constexpr int kSymbols = 7;
  uint32_t words[4];
};
inline constexpr uint32_t kJpegSparseSize = 10;                    // bits of a value, as codes state it, at most
inline constexpr uint32_t kJpegSparseColumns = 32;
inline constexpr uint32_t kJpegSubsequenceBits = 1024;             // at most: a block has at least two bits

// MCUs of a row that are transformed together: the subsequences in which they lie.
struct JpegSpan {
  uint32_t begin, end;
};

#if !PS_HOST
PS_FN JpegSparseVector* sparse_of(const JpegPicture& p, uint32_t subsequence) {
  const uint64_t columns = uint64_t(subsequence / kJpegSparseColumns) * kJpegSparseColumns;
  return on_gpu(p.sparse) + (columns * p.sparse_vectors + subsequence % kJpegSparseColumns);
}

// In the spans of MCUs that have blocks in this subsequence: its blocks are those from `begin` up to `end`.
PS_FN void record_spans(const JpegPicture& p, uint32_t subsequence, uint32_t begin, uint32_t end) {
  const auto across = uint32_t(p.mcus_across), blocks = uint32_t(p.blocks_in_mcu), each = uint32_t(p.span_mcus);
  const uint32_t mcu = begin / blocks;
  uint32_t row = mcu / across, index = (mcu - row * across) / each;
  PS_LOOP while (true) {
    const uint32_t first = (row * across + index * each) * blocks;
    const uint32_t last = (row * across + min((index + 1) * each, across)) * blocks;
    if (first >= end) return;
    JpegSpan& span = on_gpu(p.spans)[row * uint32_t(p.spans_across) + index];
    if (first >= begin) span.begin = subsequence;
    if (last <= end) span.end = subsequence + 1;
    if (++index == uint32_t(p.spans_across)) index = 0, row++;
  }
}
#endif

}  // namespace ps::device
