// Scripts of scans for progressive files.
#pragma once

#include "jpeg_files.h"

namespace jpeg_files {

// Scans of one part of a picture, each of which refines the one before.
using Chain = std::vector<jpeg_scan_info>;

inline Chain chain(std::vector<int> components, int first, int last) {
  Chain scans;
  for (int low = uniform(0, 3), high = 0; low >= 0; high = low, low--) {
    jpeg_scan_info s{};
    s.comps_in_scan = int(components.size());
    std::copy(components.begin(), components.end(), s.component_index);
    s.Ss = first, s.Se = last, s.Ah = high, s.Al = low;
    scans.push_back(s);
  }
  return scans;
}

// Any order in which each scan has what it needs: those of means first, chains in their order.
inline std::vector<jpeg_scan_info> random_scans(int components) {
  std::vector<int> all(size_t(components), 0);
  for (int i = 0; i < components; i++) all[size_t(i)] = i;
  std::vector<Chain> means, bands;
  if (uniform(0, 3)) means.push_back(chain(all, 0, 0));
  else
    for (int i : all) means.push_back(chain({i}, 0, 0));
  for (int i : all)
    for (int first = 1; first < 64;) {
      const int last = uniform(0, 2) ? uniform(first, std::min(first + 12, 63)) : 63;
      bands.push_back(chain({i}, first, last));
      first = last + 1;
    }
  std::vector<jpeg_scan_info> scans;
  for (Chain& c : means) {
    scans.push_back(c[0]);
    c.erase(c.begin());
    if (!c.empty()) bands.push_back(c);
  }
  while (!bands.empty()) {
    Chain& c = bands[size_t(uniform(0, int(bands.size()) - 1))];
    scans.push_back(c[0]);
    c.erase(c.begin());
    std::erase_if(bands, [](const Chain& one) { return one.empty(); });
  }
  return scans;
}

// A file of a random kind, with a random script or the usual one.
inline Encoding random_progressive(const Picture& part) {
  const Sampling s = kSamplings[uniform(0, 5) ? uniform(0, 4) : uniform(0, int(std::size(kSamplings)) - 1)];
  Encoding e;
  e.quality = uniform(5, 100), e.restart = uniform(0, 2) ? 0 : uniform(1, 40);
  e.h = s.h, e.v = s.v, e.chroma_h = s.chroma_h, e.chroma_v = s.chroma_v;
  e.progressive = true;
  if (uniform(0, 2)) e.scans = random_scans(part.channels);
  return e;
}

}  // namespace jpeg_files
