// Where the subsequences of a scan begin, by the picture's index (native/decode/jpeg/index.h) instead of
// synchronize.h. The index need not be right: coefficients.h checks that the subsequences fit together.
#pragma once

#include "device/base/block_scan.h"
#include "device/jpeg/huffman.h"

namespace ps::device {

#if !PS_HOST
// A word of the index: how many bits behind a subsequence's end a decoder leaves it, and JpegState's counts. No more
// blocks than bits: sums must not wrap around, whatever the words say.
PS_FN uint32_t indexed_blocks(uint32_t word, uint32_t most) { return min(word >> 16, most); }
PS_FN JpegState indexed_state(uint32_t word, uint32_t end, uint32_t bits) {
  return {min(end + (word & 4095), bits), word >> 12};
}

// A block for kJpegSeeded subsequences. It adds up the blocks before them by itself.
PS_FN void jpeg_seed(const Launch& l) {
  PS_SHARED_MEMORY(memory);
  auto* totals = reinterpret_cast<uint32_t*>(memory);
  const JpegBlock b = jpeg_block(l);
  const JpegPicture& p = b.picture;
  const uint32_t bits = jpeg_bits(p);
  if (bits != p.index_bits) {          // another file's index: with nothing to decode, the picture is not complete
    p.segment[p.segments] = 0;
    return;
  }
  const uint32_t first = uint32_t(b.index) * kJpegSeeded, last = min(first + kJpegSeeded, p.subsequences);
  const uint32_t* words = on_gpu(p.index);
  uint32_t before = 0;
  if (first) {
    PS_UNROLL
    for (uint32_t i = uint32_t(thread()); i < first; i += uint32_t(threads()))
      before += indexed_blocks(words[i], p.subsequence_bits);
    scan_threads(totals, before, JoinSums());
    before = totals[threads() - 1];
    sync();
  }
  const uint32_t each = (last - first + uint32_t(threads()) - 1) / uint32_t(threads());
  const uint32_t begin = min(first + each * uint32_t(thread()), last), end = min(begin + each, last);
  uint32_t own = 0;
  for (uint32_t i = begin; i < end; i++) own += indexed_blocks(words[i], p.subsequence_bits);
  scan_threads(totals, own, JoinSums());
  uint32_t sum = before + (thread() ? totals[thread() - 1] : 0);
  for (uint32_t i = begin; i < end; i++) {
    sum += indexed_blocks(words[i], p.subsequence_bits);
    p.exit[i] = indexed_state(words[i], subsequence_end(p, i, bits), bits);
    p.sum[i] = sum;
  }
}
#endif

}  // namespace ps::device
