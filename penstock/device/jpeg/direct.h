// From sparse coefficients to pixels by one kernel, where all components have a sample for each pixel: a block of
// threads has all that its pixels need, and no samples are stored.
#pragma once

#include "device/jpeg/pixels.h"
#include "device/jpeg/transform.h"

namespace ps::device {

// The pixels lie where the coefficients were.
struct JpegDirectMemory {
  JpegTransformMemory transform;
  alignas(16) uint8_t samples[3][8][kJpegDirectBlocks * 8];
};
static_assert(kJpegDirectBlocks * 8 * 64 <= sizeof JpegTransformMemory::column);
static_assert((kJpegDirectBlocks * 8 * 3 + 32) * 8 <= sizeof JpegTransformMemory::column);

#if !PS_HOST
// A block for each span, which is a tile of the picture.
PS_FN void jpeg_direct(const Launch& l) {
  PS_SHARED_MEMORY(memory);
  auto& all = held_in<JpegDirectMemory>(memory);
  auto& m = all.transform;
  const JpegBlock b = jpeg_block(l);
  const JpegPicture& p = b.picture;
  if (!is_sound(p)) return;
  const int line = b.index / p.wanted_spans, row = p.mcu_row + line;
  const int index = p.first_span + b.index - line * p.wanted_spans, first = index * p.span_mcus;
  const int mcus = min(p.span_mcus, p.mcus_across - first), components = p.components;
  const int begin = row * p.mcus_across + first;
  const JpegColors colors(p);
  prepare_coefficients(p, m, mcus);
  gather_coefficients(p, m, row, index, first, mcus);
  const int count = mcus * colors.components;      // component by component
  PS_LOOP
  for (int i = thread(); i < count * 4; i += threads()) {
    const int j = i / 4, k = (j >= mcus) + (j >= 2 * mcus), mcu = j - k * mcus;
    JpegEight* column = m.column[mcu * components + k];
    const auto dc = uint32_t(on_gpu(p.component[k].dc)[begin + mcu]);
    const int one = (i % 4 + (mcu * components + k) % 2 * 3) & 7, two = one ^ 4;
    JpegEight left = column[one], right = column[two];
    if (one == 0) left.v[0] = pick_bytes(dc, left.v[0], 0x7610);
    if (two == 0) right.v[0] = pick_bytes(dc, right.v[0], 0x7610);
    column[one] = transform_column(left, m.quant[k][one]);
    column[two] = transform_column(right, m.quant[k][two]);
  }
  sync();
  PS_LOOP
  for (int i = thread(); i < count * 4; i += threads()) {
    const int j = i / 4, pair = i % 4, k = (j >= mcus) + (j >= 2 * mcus), mcu = j - k * mcus;
    const JpegEight* column = m.column[mcu * components + k];
    int rows[2][8];
    PS_UNROLL
    for (int x = 0; x < 8; x++) {
      const uint32_t both = column[x].v[pair];
      rows[0][x] = lower(both), rows[1][x] = upper(both);
    }
    *reinterpret_cast<uint64_t*>(&all.samples[k][pair * 2][mcu * 8]) = transform_row(rows[0]);
    *reinterpret_cast<uint64_t*>(&all.samples[k][pair * 2 + 1][mcu * 8]) = transform_row(rows[1]);
  }
  sync();
  const JpegTile<kJpegDirectBlocks * 8, 8> tile(p, first * 8 - p.x, row * 8 - p.y,
                                              reinterpret_cast<uint8_t*>(m.column));
  PS_LOOP
  for (int i = thread(); i < mcus * 2 * 8; i += threads()) {
    const int y = i / (mcus * 2), x = (i - y * mcus * 2) * 4;
    uint32_t four[3], pixels[3];
    PS_UNROLL
    for (int k = 0; k < 3; k++)
      four[k] = *reinterpret_cast<const uint32_t*>(&all.samples[k < colors.components ? k : 0][y][x]);
    colors.apply(four, pixels);
    tile.put(x, y, pixels);
  }
  sync();
  tile.write_vectors();
  tile.write_ends();
}
#endif

}  // namespace ps::device
