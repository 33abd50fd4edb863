// Decodes the parts of scans to lists of coefficients. What is stored is what the scan has: a word for each symbol
// rather than 64 numbers for each block. So lanes need no room for a block.
#pragma once

#include "kernels/device/jpeg_parts.h"

namespace ps::device {

// A word: bits 0-6 the coefficient's number in the file's order (above 63: none), 7-15 the number of the block within
// the part, 16-31 the value, which of number 0 does not count. A part's list is a column of vectors, 32 parts of them
// side by side, so that lanes write next to one another.
struct alignas(16) JpegListVector {
  static constexpr uint32_t kNothing = 127;
  uint32_t words[4];
};
inline constexpr uint32_t kJpegListParts = 32, kJpegListPartBits = 1024;     // at most: blocks have two bits at least

// How many vectors a part may fill if no code is shorter than this: a vector has a place left only where a segment
// ends, which takes whole bytes. Its last block may begin with the last of its bits.
PS_FN uint32_t list_vectors(uint32_t part_bits, uint32_t shortest) { return part_bits / (4 * min(shortest, 2u)) + 20; }

// Where the kernel that transforms finds MCUs of a row that it takes together, in the parts' lists.
struct JpegSpan {
  uint32_t begin, end;
};
inline constexpr int kJpegListTileBlocks = 128;                    // at most

PS_FN uint32_t list_bits(const JpegPicture& p) { return kJpegWriteThreads * p.part_bits; }

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

// Makes a part's list.
struct JpegListSink {
  const JpegPicture& p;
  uint32_t part, vectors, room;
  JpegListVector* to;
  JpegListVector vector;

  PS_FN void begin(uint32_t before, uint32_t blocks) { note_spans(p, part, before, before + blocks); }
  PS_FN void nothing(int k) { vector.words[k] = JpegListVector::kNothing; }
  PS_FN void symbol(int k, uint32_t tag, uint32_t index, int value) {
    vector.words[k] = (uint32_t(value) << 16) + (tag + index);
  }
  PS_FN void difference(const JpegLink& link, uint32_t mcu, int value) {
    auto* bytes = reinterpret_cast<uint8_t*>(link.differences) + uint64_t(mcu) * link.step;
    *on_gpu(reinterpret_cast<int16_t*>(bytes)) = int16_t(value);
  }
  PS_FN bool next() {
    to[vectors++ * kJpegListParts] = vector;
    return vectors != room;
  }
};

// A block for each kJpegWriteThreads parts.
PS_FN void jpeg_list(const Launch& l) {
  PS_SHARED_MEMORY(memory);
  auto& m = held_in<JpegScanMemory>(memory);
  const JpegBlock b = jpeg_block(l);
  const JpegPicture& p = b.picture;
  const uint32_t bits = jpeg_bits(p), all = count_parts(p, bits), first = uint32_t(b.number) * kJpegWriteThreads;
  if (first >= all) return;
  const uint32_t end = min(first + kJpegWriteThreads, all);
  if (first && p.sum[first - 1] >= p.blocks) return;
  const JpegStretch stretch = load_stretch(p, reinterpret_cast<uint32_t*>(memory + sizeof(JpegScanMemory)),
                                           first * p.part_bits, min(end * p.part_bits, bits),
                                           jpeg_stretch(list_bits(p)));
  load_scan(p, m);
  for (uint32_t part = first + uint32_t(thread()); part < end; part += uint32_t(threads())) {
    JpegListSink sink{p, part, 0, p.list_vectors, list_of(p, part), {}};
    decode_part(p, m, stretch, part, bits, sink);
    on_gpu(p.list_length)[part] = sink.vectors;
  }
}
#endif

}  // namespace ps::device
