// Huffman tables that are quick to look up, from what files state.
#pragma once

#include "device/jpeg/sparse.h"

namespace ps::device {

struct JpegTableJob {
  const JpegCodes* codes;
  JpegTable* tables;
};

#if !PS_HOST
// As advance: the block ends, or there is no such code.
inline constexpr uint32_t kJpegEndOfBlock = 64, kJpegNoCode = 65;

PS_FN uint32_t jpeg_entry(uint32_t length, uint32_t symbol, bool is_dc) {
  const uint32_t size = symbol & 15, run = symbol >> 4;
  const uint32_t advance = is_dc                    ? 1
                           : size == 0 && run != 15 ? kJpegEndOfBlock
                           : size > kJpegSparseSize ? kJpegNoCode      // samples of 8 bits have no such coefficients
                                                    : run + 1;
  return (length + size) | size << 5 | advance << 9;
}

// Which of the quick entries is for what begins with these bits. The greater place is the right one: by 16 bits it
// rises 64 times as fast as by 10, and they meet at kFirstLong.
PS_FN uint32_t quick_place(uint32_t window) {
  return uint32_t(max(int(window >> (32 - JpegTable::kBits)), int(window >> 16) - int(JpegTable::kShift)));
}

// How many of the next bits an entry knows, and these.
struct JpegKnown {
  uint32_t bits, window;
  PS_FN explicit JpegKnown(uint32_t place)
      : bits(place < JpegTable::kFirstLong ? JpegTable::kBits : 16),
        window(place < JpegTable::kFirstLong ? place << (32 - JpegTable::kBits) : (place + JpegTable::kShift) << 16) {}
};

// One entry for all symbols of a block of which the codes are known. It rises above 64 where the block ends: what is
// below that is where the last symbol's coefficient would be.
PS_FN uint32_t jpeg_run(const JpegTable& t, const JpegKnown& known) {
  uint32_t bits = 0, advance = 0;
  while (bits < known.bits && advance < kJpegEndOfBlock) {
    const uint32_t window = known.window << bits, entry = t.quick[quick_place(window)];
    const uint32_t length = entry & 31, code = length - (entry >> 5 & 15), next = entry >> 9;
    if (!entry || code > known.bits - bits) break;
    if (next != kJpegEndOfBlock && advance && advance + next >= kJpegEndOfBlock) break;
    bits += length, advance += next;
  }
  return bits | advance << 9;
}

// A block for each table.
PS_FN void jpeg_tables(const Launch& l) {
  const auto& job = *reinterpret_cast<const JpegTableJob*>(l.jobs);
  const JpegCodes& from = job.codes[block()];
  JpegTable& to = job.tables[block()];
  const bool is_dc = from.is_dc;
  for (uint32_t i = uint32_t(thread()); i < JpegTable::kQuick; i += uint32_t(threads())) {
    const JpegKnown known(i);
    uint32_t entry = 0, code = 0, index = 0;
    for (uint32_t length = 1; length <= known.bits && !entry; length++) {
      const uint32_t count = from.counts[length - 1], rank = (known.window >> (32 - length)) - code;
      if (rank < count) entry = jpeg_entry(length, from.symbols[(index + rank) & 255], is_dc);
      code = (code + count) << 1;
      index += count;
    }
    to.quick[i] = uint16_t(entry);
  }
  // Each long length is found anew: there are six.
  for (int i = thread(); i < 8; i += threads()) {
    uint32_t code = 0, index = 0;
    const uint32_t length = uint32_t(JpegTable::kBits + 1 + i);
    for (uint32_t n = 1; n < length && n <= 16; n++) {
      index += from.counts[n - 1];
      code = (code + from.counts[n - 1]) << 1;
    }
    to.longer.limit[i] = length > 16 ? ~0u : (code + from.counts[length - 1]) << (16 - length);
    to.longer.offset[i] = int32_t(index) - int32_t(code);
  }
  for (int i = thread(); i < 256; i += threads()) {
    uint32_t length = 1, end = from.counts[0];
    while (length < 16 && end <= uint32_t(i)) end += from.counts[length++];
    to.longer.entries[i] = uint16_t(jpeg_entry(length, from.symbols[i], is_dc));
  }
  sync();
  for (uint32_t i = uint32_t(thread()); i < JpegTable::kQuick; i += uint32_t(threads())) {
    const uint32_t entry = to.quick[i], run = is_dc ? entry : jpeg_run(to, JpegKnown(i));
    to.runs[i] = entry ? entry | run << 16 : 0;
  }
}

// The entry for the code at the top of `window`, if it has more than 10 bits.
PS_FN uint32_t find_long_code(const JpegLongCodes& t, uint32_t window) {
  const uint32_t next = window >> 16;
  int longer = 0;                      // limits rise, so they can all be looked at at once
  PS_UNROLL for (int i = 0; i < 16 - JpegTable::kBits; i++) longer += next >= t.limit[i];
  const int length = JpegTable::kBits + 1 + longer;
  if (length > 16) return 16 | kJpegNoCode << 9;
  return t.entries[(int(next >> (16 - length)) + t.offset[longer]) & 255];
}
#endif

}  // namespace ps::device
