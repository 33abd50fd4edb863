// Histograms made even, tile by tile, as OpenCV does it.
#pragma once

#include "device/base/border.h"
#include "device/base/divisor.h"
#include "device/color/equalize.h"
#include "device/color/lab.h"

namespace ps::device {

// Tiles of planes of one channel. They may reach beyond the plane, which is mirrored there.
struct ClaheTiles {
  int32_t height, width;               // of a plane
  int32_t across, down, tile_width, tile_height;
  int32_t limit;                       // of counts; 0: none
  PS_FN int32_t count() const { return across * down; }
  // The place beyond the plane, which it has at place i.
  PS_FN int64_t row(int64_t i) const { return mirrored_101(i, height); }
  PS_FN int64_t column(int64_t i) const { return mirrored_101(i, width); }
};

// What becomes of each value. Counts are changed.
PS_FN void clahe_table(uint32_t* counts, const ClaheTiles& t, uint8_t* table) {
  const int64_t pixels = int64_t(t.tile_width) * t.tile_height;
  if (t.limit > 0) {
    const auto limit = uint32_t(t.limit);
    uint32_t over = 0;
    for (int v = 0; v < kGrays; v++)
      if (counts[v] > limit) over += counts[v] - limit, counts[v] = limit;
    const uint32_t each = over / kGrays;
    uint32_t rest = over % kGrays;
    for (int v = 0; v < kGrays; v++) counts[v] += each;
    if (rest) {
      const uint32_t step = max(kGrays / rest, 1u);
      for (uint32_t v = 0; v < kGrays && rest; v += step, rest--) counts[v]++;
    }
  }
  const float scale = 255.0f / float(pixels);
  uint64_t sum = 0;
  for (int v = 0; v < kGrays; v++) {
    sum += counts[v];
    table[v] = nearest_gray(min(float(int64_t(sum)) * scale, 255.0f));
  }
}

// Along one axis: the two tiles whose middles a pixel lies between, and how near it is to the second one.
struct ClahePlace {
  int32_t first, second;
  float part;
};
PS_FN ClahePlace clahe_place(int i, float inverse, int tiles) {
  const float at = float(i) * inverse - 0.5f, below = floorf(at);
  const int first = int(below);
  return {max(first, 0), min(first + 1, tiles - 1), at - below};
}
PS_FN uint8_t clahe_value(uint8_t ll, uint8_t lr, uint8_t ul, uint8_t ur, float x, float y) {
  const float lower = float(ll) * (1 - x) + float(lr) * x, upper = float(ul) * (1 - x) + float(ur) * x;
  return nearest_gray(lower * (1 - y) + upper * y);
}

struct ClaheLight {                    // a pixel's lightness
  const uint8_t* in;
  uint8_t* out;
  const LabTables* lab;
  PS_FN void element(int64_t i) const {
    out[i] = uint8_t(lab_split(*lab, in[3 * i], in[3 * i + 1], in[3 * i + 2]).light);
  }
};

// Tiles of planes are the parts. `step`: from one pixel to the next; of a frame as many planes.
struct ClaheCounts {
  const uint8_t* in;
  uint32_t* counts;                    // by plane, tile and value
  ClaheTiles tiles;
  int32_t step;
  Divisor columns;                     // of a tile
#if !PS_HOST
  template <class F> PS_FN void visit(int64_t part, const F& f) const {
    const int64_t plane = part / tiles.count();
    const auto tile = int32_t(part - plane * tiles.count());
    const int64_t y0 = int64_t(tile / tiles.across) * tiles.tile_height;
    const int64_t x0 = int64_t(tile % tiles.across) * tiles.tile_width;
    const uint8_t* from = in + plane / step * tiles.height * tiles.width * step + plane % step;
    const int64_t pixels = int64_t(tiles.tile_width) * tiles.tile_height;
    for (int64_t i = thread(); i < pixels; i += threads()) {
      const auto y = int64_t(columns.quotient(uint64_t(i))), x = i - y * tiles.tile_width;
      f(from[(tiles.row(y0 + y) * tiles.width + tiles.column(x0 + x)) * step]);
    }
  }
#endif
};

struct ClaheMakeTables {
  uint32_t* counts;
  uint8_t* tables;
  ClaheTiles tiles;
  PS_FN void element(int64_t i) const { clahe_table(counts + i * kGrays, tiles, tables + i * kGrays); }
};

// A pixel of the output, all of its channels. `light`: where there are tables for it alone.
struct ClaheValues {
  const uint8_t *in, *light, *tables;
  uint8_t* out;
  const LabTables* lab;
  ClaheTiles tiles;
  int32_t channels;
  Divisor columns, rows;
  PS_FN void element(int64_t i) const {
    const uint64_t line = columns.quotient(uint64_t(i)), frame = rows.quotient(line);
    const int x = int(uint64_t(i) - line * columns.number()), y = int(line - frame * rows.number());
    const ClahePlace h = clahe_place(x, 1.0f / float(tiles.tile_width), tiles.across);
    const ClahePlace v = clahe_place(y, 1.0f / float(tiles.tile_height), tiles.down);
    const uint8_t* p = in + i * channels;
    const int planes = light ? 1 : channels;
    for (int c = 0; c < planes; c++) {
      const uint8_t value = light ? light[i] : p[c];
      const uint8_t* of = tables + (int64_t(frame) * planes + c) * tiles.count() * kGrays + value;
      const uint8_t *lower = of + int64_t(v.first) * tiles.across * kGrays;
      const uint8_t *upper = of + int64_t(v.second) * tiles.across * kGrays;
      const uint8_t made = clahe_value(lower[h.first * kGrays], lower[h.second * kGrays], upper[h.first * kGrays],
                                       upper[h.second * kGrays], h.part, v.part);
      if (light) {
        Lab colour = lab_split(*lab, p[0], p[1], p[2]);
        colour.light = made;
        lab_join(*lab, colour, out + i * 3);
      } else {
        out[i * channels + c] = made;
      }
    }
  }
};

}  // namespace ps::device
