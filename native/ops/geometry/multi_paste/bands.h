// Which part shows where, of parts that lie over each other: so each pixel is written once.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "device/geometry/multi_paste.h"

namespace ps {

struct PastedPiece {
  int64_t x0, x1, part;                // part -1: there is none
};
// Rows that show the same parts at the same columns.
struct PastedBand {
  int64_t y0, y1;
  std::vector<PastedPiece> pieces;     // side by side, over the whole width
};

// Later parts are over earlier ones.
inline std::vector<PastedBand> pasted_bands(const device::PastedPart* parts, int64_t n, int64_t height, int64_t width) {
  std::vector<int64_t> edges = {0, height};
  for (int64_t i = 0; i < n; i++)
    if (parts[i].x0 < parts[i].x1) edges.push_back(parts[i].y0), edges.push_back(parts[i].y1);
  std::sort(edges.begin(), edges.end());
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
  std::vector<PastedBand> bands;
  std::vector<PastedPiece> next;
  for (size_t k = 0; k + 1 < edges.size(); k++) {
    PastedBand band{edges[k], edges[k + 1], {{0, width, -1}}};
    for (int64_t i = 0; i < n; i++) {
      const device::PastedPart& p = parts[i];
      if (p.y0 > band.y0 || p.y1 < band.y1 || p.x0 >= p.x1) continue;
      // It takes the place of what it covers.
      next.clear();
      for (const PastedPiece& old : band.pieces) {
        if (old.x0 < p.x0) next.push_back({old.x0, std::min<int64_t>(old.x1, p.x0), old.part});
        if (p.x0 >= old.x0 && p.x0 < old.x1) next.push_back({p.x0, p.x1, i});
        if (old.x1 > p.x1) next.push_back({std::max<int64_t>(old.x0, p.x1), old.x1, old.part});
      }
      band.pieces.swap(next);
    }
    bands.push_back(std::move(band));
  }
  return bands;
}

}  // namespace ps
