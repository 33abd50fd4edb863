// Dequantisation and inverse DCT: from sparse coefficients, or what progressive scans found, to planes of samples. Only
// in shared memory do blocks have all their 64 numbers.
#pragma once

#include "device/base/lanes.h"
#include "device/jpeg/idct.h"
#include "device/jpeg/progressive/place.h"
#include "device/jpeg/sparse.h"

namespace ps::device {

// A block of 8 x 8 on its way.
struct alignas(16) JpegPlacedBlock {
  uint8_t* to;                         // null: outside the window
  int32_t pitch;
  int16_t dc;
  uint8_t index, component;           // in the span
};

struct JpegTransformMemory {
  JpegEight column[kJpegTileBlocks][9];            // the last one takes what is beyond a block's end
  JpegPlacedBlock block[kJpegTileBlocks];          // as they lie in the planes
  JpegEight quant[3][8];
  uint8_t place[128];
};

#if !PS_HOST
// All threads: coefficients are zeroed, and tables copied to shared memory.
PS_FN void prepare_coefficients(const JpegPicture& p, JpegTransformMemory& m, int mcus) {
  for (int i = thread(); i < 24; i += threads())
    m.quant[i / 8][i % 8] = reinterpret_cast<const JpegEight*>(p.component[i / 8].quant)[i % 8];
  for (int i = thread(); i < 128; i += threads()) m.place[i] = i < 64 ? p.place[i] : uint8_t(64);
  auto* eights = reinterpret_cast<JpegEight*>(m.column);
  for (int i = thread(); i < mcus * p.blocks_in_mcu * 9; i += threads()) eights[i] = {};
}

// A block of a span, component by component and row by row.
struct JpegSpanBlock {
  int component, mcu, rank;            // the MCU in the span, and the place among the component's blocks there
  int column, line;                    // in the component

  PS_FN JpegSpanBlock(const JpegPicture& p, int index, int row, int first, int mcus) : component(0) {
    int j = index;
    while (j >= mcus * p.component[component].blocks) j -= mcus * p.component[component++].blocks;
    const JpegComponent& c = p.component[component];
    const int across = mcus * c.h, y = (j >= across) + (j >= 2 * across) + (j >= 3 * across), x = j - y * across;
    mcu = c.by_h.quotient(x), rank = y * c.h + x - mcu * c.h;
    column = first * c.h + x, line = row * c.v + y;
  }
  // Where its coefficients are, in the scan's order.
  PS_FN int place(const JpegPicture& p) const {
    int place = mcu * p.blocks_in_mcu + rank;
    for (int n = 0; n < component; n++) place += p.component[n].blocks;
    return place;
  }
};

// All threads: the span's blocks, and where their samples go.
PS_FN void find_blocks(const JpegPicture& p, JpegTransformMemory& m, int row, int first, int mcus) {
  for (int i = thread(); i < mcus * p.blocks_in_mcu; i += threads()) {
    const JpegSpanBlock at(p, i, row, first, mcus);
    const JpegComponent& c = p.component[at.component];
    const int column = at.column - c.column, line = at.line - c.row;
    JpegPlacedBlock b{};
    if (uint32_t(column) < uint32_t(c.columns) && uint32_t(line) < uint32_t(c.rows)) {
      b.pitch = c.columns * 8;
      b.to = c.plane + (int64_t(line) * 8 * b.pitch + column * 8);
      b.dc = on_gpu(c.dc)[(row * p.mcus_across + first + at.mcu) * c.blocks + at.rank];
      b.index = uint8_t(at.place(p)), b.component = uint8_t(at.component);
    }
    m.block[i] = b;
  }
}

// The coefficients of a vector to their places, in blocks from `first` on, `count` of them.
PS_FN void scatter_vector(const JpegSparseVector& v, JpegTransformMemory& m, uint32_t first, uint32_t count) {
  auto* coefficients = reinterpret_cast<int16_t*>(m.column);
  uint32_t index = v.words[0] & 127, block = (v.words[0] >> 7 & 511) + first;
  PS_UNROLL for (int k = 1; k <= JpegSparseVector::kSymbols; k++) {
    const uint32_t symbol = v.words[k / 2] >> (k % 2 * 16);
    const int value = int(symbol << 21) >> 21;
    index += symbol >> 11 & 15;
    // Behind the last block there are no symbols, and its zeros are another's place.
    if (value && block < count) coefficients[block * 72 + m.place[index & 127]] = int16_t(value);
    const bool ended = symbol >> 15 & 1;
    index = ended ? 0 : index + 1;
    block += ended;
  }
}

// All threads: the span's coefficients to their places. It begins with block `first` and has `count`.
PS_FN void scatter_coefficients(const JpegPicture& p, JpegTransformMemory& m, JpegSpan span, uint32_t first,
                                uint32_t count) {
  constexpr uint32_t together = 4;     // vectors are on their way at a time
  const uint32_t lanes = clamp(span.end - span.begin, 1u, uint32_t(threads())), rows = uint32_t(threads()) / lanes;
  const uint32_t row = uint32_t(thread()) / lanes;
  sync();
  for (uint32_t s = span.begin + uint32_t(thread()) % lanes; s < span.end && row < rows; s += lanes) {
    const JpegSparseVector* from = sparse_of(p, s);
    const uint32_t vectors = on_gpu(p.sparse_length)[s], offset = (s ? on_gpu(p.sum)[s - 1] : 0) - first;
    PS_LOOP
    for (uint32_t i = row; i < vectors; i += rows * together) {
      JpegSparseVector v[together];
      PS_UNROLL for (uint32_t k = 0; k < together; k++)
        v[k] = from[min(i + k * rows, vectors - 1) * kJpegSparseColumns];
      PS_UNROLL for (uint32_t k = 0; k < together; k++) {
        if (i + k * rows >= vectors) break;
        scatter_vector(v[k], m, offset, count);
      }
    }
  }
  sync();
}

// All threads: the coefficients of a progressive picture's span to their places.
PS_FN void place_coefficients(const JpegPicture& p, JpegTransformMemory& m, int row, int first, int mcus) {
  auto* coefficients = reinterpret_cast<int16_t*>(m.column);
  sync();
  for (int i = thread(); i < mcus * p.blocks_in_mcu; i += threads()) {
    const JpegSpanBlock at(p, i, row, first, mcus);
    place_block(p, at.component, at.column, at.line, m.place, coefficients + at.place(p) * 72);
  }
  sync();
}

// All threads: those of MCUs of a row.
PS_FN void gather_coefficients(const JpegPicture& p, JpegTransformMemory& m, int row, int index, int first, int mcus) {
  if (p.scans) return place_coefficients(p, m, row, first, mcus);
  scatter_coefficients(p, m, p.spans[row * p.spans_across + index],
                       uint32_t((row * p.mcus_across + first) * p.blocks_in_mcu), uint32_t(mcus * p.blocks_in_mcu));
}

// A block for each span: four threads for 8 x 8 samples, which take two columns each, then two rows each.
PS_FN void jpeg_transform(const Launch& l) {
  PS_SHARED_MEMORY(memory);
  auto& m = held_in<JpegTransformMemory>(memory);
  const JpegBlock b = jpeg_block(l);
  const JpegPicture& p = b.picture;
  if (!is_sound(p)) return;
  const int line = b.index / p.wanted_spans, row = p.mcu_row + line;
  const int index = p.first_span + b.index - line * p.wanted_spans, first = index * p.span_mcus;
  const int mcus = min(p.span_mcus, p.mcus_across - first), count = mcus * p.blocks_in_mcu;
  prepare_coefficients(p, m, mcus);
  find_blocks(p, m, row, first, mcus);
  gather_coefficients(p, m, row, index, first, mcus);
  PS_LOOP
  for (int i = thread(); i < count * 4; i += threads()) {
    const JpegPlacedBlock at = m.block[i / 4];
    if (!at.to) continue;
    // Odd blocks begin with other columns than even ones: so eight threads write to different banks.
    const int one = (i % 4 + at.index % 2 * 3) & 7, two = one ^ 4;
    JpegEight left = m.column[at.index][one], right = m.column[at.index][two];
    if (one == 0) left.v[0] = pick_bytes(uint32_t(at.dc), left.v[0], 0x7610);
    if (two == 0) right.v[0] = pick_bytes(uint32_t(at.dc), right.v[0], 0x7610);
    m.column[at.index][one] = transform_column(left, m.quant[at.component][one]);
    m.column[at.index][two] = transform_column(right, m.quant[at.component][two]);
  }
  sync();
  PS_LOOP
  for (int i = thread(); i < count * 4; i += threads()) {
    const JpegPlacedBlock at = m.block[i / 4];
    if (!at.to) continue;
    const int pair = i % 4;
    int rows[2][8];
    PS_UNROLL
    for (int x = 0; x < 8; x++) {
      const uint32_t both = m.column[at.index][x].v[pair];
      rows[0][x] = lower(both), rows[1][x] = upper(both);
    }
    uint8_t* to = on_gpu(at.to) + int64_t(pair) * 2 * at.pitch;
    *reinterpret_cast<uint64_t*>(to) = transform_row(rows[0]);
    *reinterpret_cast<uint64_t*>(to + at.pitch) = transform_row(rows[1]);
  }
}
#endif

}  // namespace ps::device
