#include "decode/jpeg/scan_list.h"

#include <algorithm>
#include <cstring>
#include <vector>

namespace ps::jpeg {
namespace {

// Offsets instead of addresses, as long as these grow.
struct Listing {
  struct Place {
    size_t tables, segments;
  };
  std::vector<ListedScan> scans;
  std::vector<Place> places;
  std::vector<HuffmanSpec> tables;
  std::vector<ScanSegment> segments;

  void clear() { scans.clear(), places.clear(), tables.clear(), segments.clear(); }
};

// How many units the whole scan has: MCUs, or blocks of a single component.
int64_t count_units(const Header& h, const Scan& scan) {
  if (scan.components > 1) return int64_t(h.mcus_per_row()) * h.mcu_rows();
  const Component& c = h.component[scan.component[0]];
  return int64_t((c.width + 7) / 8) * ((c.height + 7) / 8);
}

// Appends `count` segments from `at` on. False: restart markers are missing or out of order, or the stuffing is not
// what an encoder writes.
bool add_segments(const uint8_t* data, size_t size, size_t at, int64_t count, std::vector<ScanSegment>& to) {
  for (int64_t number = 0; number < count; number++) {
    const size_t begin = at;
    size_t end = size;
    while (at < size) {
      const auto* ff = static_cast<const uint8_t*>(std::memchr(data + at, 0xFF, size - at));
      if (!ff) break;
      end = size_t(ff - data);
      at = end + 1;
      while (at < size && data[at] == 0xFF) at++;
      if (at == size || data[at] != 0) break;
      if (at != end + 1) return false;
      at++, end = size;
    }
    to.push_back({uint32_t(begin), uint32_t(end)});
    if (number + 1 == count) return true;
    if (end == size || at >= size || data[at] != 0xD0 + int(number & 7)) return false;
    at++;
  }
  return true;
}

bool add_tables(const Header& h, const Scan& scan, std::vector<HuffmanSpec>& to) {
  if (scan.first > 0) {
    to.push_back(h.ac[scan.ac[0]]);
    return is_prefix_code(to.back());
  }
  for (int i = 0; i < scan.components && !scan.high; i++) {
    to.push_back(h.dc[scan.dc[i]]);
    if (!is_code_of_means(to.back())) return false;
  }
  return true;
}

template <class T> T* copy(const std::vector<T>& from, const std::function<void*(size_t)>& take) {
  const size_t bytes = std::max(from.size(), size_t(1)) * sizeof(T);
  auto* to = static_cast<T*>(take(bytes));
  std::copy(from.begin(), from.end(), to);
  return to;
}

}  // namespace

KnownBits::KnownBits() { std::memset(bits_, -1, sizeof bits_); }

bool KnownBits::add(const Scan& scan) {
  for (int i = 0; i < scan.components; i++) {
    int8_t* bits = bits_[scan.component[i]];
    if (scan.first > 0 && bits[0] < 0) return false;
    for (int k = scan.first; k <= scan.last; k++) {
      if (bits[k] != (scan.high ? scan.high : -1)) return false;
      bits[k] = int8_t(scan.low);
    }
  }
  return true;
}

bool KnownBits::complete(int components) const {
  return std::all_of(bits_, bits_ + components, [](const int8_t(&bits)[64]) {
    return std::all_of(std::begin(bits), std::end(bits), [](int low) { return low == 0; });
  });
}

size_t end_of_scan(const uint8_t* data, size_t size, size_t at) {
  while (at < size) {
    const auto* ff = static_cast<const uint8_t*>(std::memchr(data + at, 0xFF, size - at));
    if (!ff) return size;
    at = size_t(ff - data) + 1;
    if (at < size && data[at] != 0 && data[at] != 0xFF && (data[at] & 0xF8) != 0xD0) return at - 1;
  }
  return size;
}

bool list_scans(const uint8_t* data, size_t size, Header header, const std::function<void*(size_t)>& take,
                ScanList& list) {
  if (!header.progressive || size > UINT32_MAX) return false;
  thread_local Listing all;
  all.clear();
  KnownBits known;
  Scan scan;
  for (size_t at = header.sos;;) {
    const ScanStatus found = next_scan(data, size, at, header, scan);
    if (found == ScanStatus::broken) return false;
    if (found == ScanStatus::end) break;
    if (all.scans.size() == size_t(kMostScans) || !known.add(scan)) return false;
    all.places.push_back({all.tables.size(), all.segments.size()});
    if (!add_tables(header, scan, all.tables)) return false;
    const int64_t units = count_units(header, scan), interval = header.restart_interval;
    const int64_t count = interval ? (units + interval - 1) / interval : 1;
    if (!add_segments(data, size, scan.data, count, all.segments)) return false;
    at = end_of_scan(data, size, all.segments.back().end);
    all.scans.push_back({scan, nullptr, header.restart_interval, nullptr, int(count), at - scan.data});
  }
  if (!known.complete(header.components)) return false;
  const HuffmanSpec* tables = copy(all.tables, take);
  const ScanSegment* segments = copy(all.segments, take);
  ListedScan* scans = copy(all.scans, take);
  for (size_t i = 0; i < all.scans.size(); i++) {
    scans[i].tables = tables + all.places[i].tables;
    scans[i].segments = segments + all.places[i].segments;
  }
  list = {scans, int(all.scans.size())};
  return true;
}

}  // namespace ps::jpeg
