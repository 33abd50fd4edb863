#include "cuda/decode/jpeg/scans.h"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace ps::gpu {
namespace {

using device::JpegPicture;
using device::JpegScan;

static_assert(jpeg::kMostScans == device::kJpegMostScans);
static_assert(sizeof(jpeg::ScanSegment) == sizeof(device::JpegSegment));

// Of a longer one, a thread of the CPU is done sooner: a warp takes five times as long for a byte, and only other scans
// and pictures can be decoded beside it.
constexpr size_t kLongestScan = size_t(1) << 19;
// A small file may have many scans of a large picture, each of which finds nothing.
constexpr int64_t kMostScanBytes = int64_t(1) << 29;

int64_t blocks_of(const JpegPicture& p, const JpegScan& s) {
  const device::JpegComponent& c = p.component[s.component[0]];
  return int64_t(c.across) * c.down;
}

int64_t values_of(const device::JpegComponent& c) { return int64_t(c.across) * c.down * 64; }

// The scans before `scan` that found what it refines: of each coefficient the last one. False: there are too many.
bool find_previous(const std::vector<JpegScanWork>& before, JpegScan& scan) {
  const auto covers = [](const JpegScan& s, int component) {
    return std::find(s.component, s.component + s.components, component) != s.component + s.components;
  };
  for (int i = 0; i < scan.components; i++) {
    uint64_t left = scan.band();
    for (size_t k = before.size(); k-- > 0 && left;) {
      const JpegScan& s = before[k].scan;
      if (!covers(s, scan.component[i]) || !(left & s.band())) continue;
      left &= ~s.band();
      if (std::find(scan.previous, scan.previous + scan.previous_count, k) != scan.previous + scan.previous_count)
        continue;
      if (scan.previous_count == device::kJpegPrevious) return false;
      scan.previous[scan.previous_count++] = uint8_t(k);
    }
  }
  return true;
}

}  // namespace

bool CudaJpeg::takes(const jpeg::Header& header, const jpeg::ScanList& list) {
  std::vector<JpegScanWork> before;
  int64_t bytes = 0;
  for (int i = 0; i < list.count; i++) {
    JpegScanWork work = scan_work(list.scans[i]);
    if (list.scans[i].bytes > kLongestScan || (work.scan.later && !find_previous(before, work.scan))) return false;
    before.push_back(work);
    const jpeg::Component& c = header.component[work.scan.component[0]];
    const int64_t blocks = int64_t((c.width + 7) / 8) * ((c.height + 7) / 8);
    if (work.scan.first > 0) bytes += blocks * int64_t(sizeof(uint64_t)) * (work.scan.later ? 3 : 1);
  }
  return bytes <= kMostScanBytes;
}

JpegScanWork scan_work(const jpeg::ListedScan& from) {
  JpegScanWork work{&from, {}};
  JpegScan& s = work.scan;
  s.components = uint8_t(from.scan.components);
  for (int i = 0; i < from.scan.components; i++) s.component[i] = uint8_t(from.scan.component[i]);
  s.first = uint8_t(from.scan.first), s.last = uint8_t(from.scan.last), s.low = uint8_t(from.scan.low);
  s.later = from.scan.high != 0;
  s.segments = uint32_t(from.segment_count);
  return work;
}

namespace {

// Scans that others refine come before these still, but those of the part of the picture that takes longest come first:
// of a component's AC coefficients, or of DC values, as no band needs these.
void order_scans(std::vector<JpegScanWork>& scans) {
  constexpr size_t dc = jpeg::kMaxComponents;
  size_t bytes[dc + 1] = {};
  const auto part_of = [](const JpegScanWork& w) { return w.scan.first ? w.scan.component[0] : dc; };
  for (const JpegScanWork& w : scans) bytes[part_of(w)] += w.from->bytes;
  std::vector<uint8_t> order(scans.size()), place(scans.size());
  std::iota(order.begin(), order.end(), uint8_t(0));
  std::stable_sort(order.begin(), order.end(), [&](uint8_t a, uint8_t b) {
    const size_t left = part_of(scans[a]), right = part_of(scans[b]);
    return bytes[left] != bytes[right] ? bytes[left] > bytes[right] : left < right;
  });
  for (size_t i = 0; i < order.size(); i++) place[order[i]] = uint8_t(i);
  const std::vector<JpegScanWork> before = std::move(scans);
  scans.clear();
  for (const uint8_t i : order) {
    scans.push_back(before[i]);
    JpegScan& s = scans.back().scan;
    for (int k = 0; k < s.previous_count; k++) s.previous[k] = place[s.previous[k]];
  }
}

}  // namespace

void add_scans(const CudaJpeg::Item& item, JpegWork& work) {
  JpegPicture& p = work.picture;
  const jpeg::Header& h = *item.header;
  for (int i = 0; i < h.components; i++) {
    device::JpegComponent& c = p.component[i];
    c.across = (h.component[i].width + 7) / 8;
    c.down = std::min((h.component[i].height + 7) / 8, (p.mcu_row + p.mcu_rows) * c.v);
  }
  for (int i = 0; i < item.scans->count; i++) {
    const jpeg::ListedScan& from = item.scans->scans[i];
    JpegScanWork scan = scan_work(from);
    JpegScan& s = scan.scan;
    const device::JpegComponent& c = p.component[s.component[0]];
    if (s.components == 1 && c.columns == 0) continue;
    if (s.later) find_previous(work.scans, s);
    s.columns = c.across;
    s.units = s.components == 1 ? uint32_t(c.across) * uint32_t(c.down)
                                : uint32_t(p.mcus_across) * uint32_t(p.mcu_row + p.mcu_rows);
    s.interval = from.restart_interval ? uint32_t(from.restart_interval) : s.units;
    work.scans.push_back(scan);
  }
  order_scans(work.scans);
  p.scan_count = uint32_t(work.scans.size());
}

int64_t scan_bytes(const JpegWork& work) {
  int64_t sum = 0;
  for (const JpegScanWork& w : work.scans)
    if (w.scan.first > 0) sum += blocks_of(work.picture, w.scan) * int64_t(sizeof(uint64_t)) * (w.scan.later ? 3 : 1);
  for (const device::JpegComponent& c : work.picture.component)
    if (c.columns) sum += values_of(c) * int64_t(sizeof(int16_t));
  return sum;
}

void add_scan_memory(JpegWork& work, JpegPicture& picture, MemoryLayout& layout) {
  for (JpegScanWork& w : work.scans) {
    JpegScan& s = w.scan;
    if (s.first == 0) continue;
    const int64_t blocks = blocks_of(picture, s);
    layout.add(s.nonzero, blocks);
    if (s.later) layout.add(s.value, blocks), layout.add(s.negative, blocks);
  }
  for (int k = 0; k < picture.components; k++)
    if (picture.component[k].columns) layout.add(work.values[k], values_of(picture.component[k]));
}

void JpegScanUpload::add(const JpegWork& work, JpegPicture& picture) {
  places_.push_back({&picture, scans_.size()});
  for (const JpegScanWork& w : work.scans) {
    offsets_.push_back({segments_.size(), codes_.size()});
    JpegScan& s = scans_.emplace_back(w.scan);
    if (s.first > 0 && !s.later) s.first_values = work.values[s.component[0]];
    const jpeg::ListedScan& from = *w.from;
    for (int i = 0; i < from.segment_count; i++)
      segments_.push_back({from.segments[i].begin, from.segments[i].end});
    for (int i = 0; i < s.components && (s.first > 0 || !s.later); i++) {
      device::JpegCodes& c = codes_.emplace_back();
      std::memcpy(c.counts, from.tables[i].counts, sizeof c.counts);
      std::memcpy(c.symbols, from.tables[i].symbols, sizeof c.symbols);
      c.is_dc = s.first == 0;
    }
  }
}

size_t JpegScanUpload::bytes() const {
  return scans_.size() * sizeof scans_[0] + segments_.size() * sizeof segments_[0] + codes_.size() * sizeof codes_[0];
}

void JpegScanUpload::put(Recorder& r) {
  const auto* segments = static_cast<const device::JpegSegment*>(
      r.constant(segments_.data(), segments_.size() * sizeof segments_[0]));
  const auto* codes =
      static_cast<const device::JpegCodes*>(r.constant(codes_.data(), codes_.size() * sizeof codes_[0]));
  for (size_t i = 0; i < scans_.size(); i++) {
    scans_[i].segment = segments + offsets_[i].segment;
    for (int k = 0; k < scans_[i].components; k++) scans_[i].codes[k] = codes + offsets_[i].codes + k;
  }
  const auto* scans = static_cast<const JpegScan*>(r.constant(scans_.data(), scans_.size() * sizeof scans_[0]));
  for (const Place& at : places_) at.picture->scans = scans + at.scan;
}

}  // namespace ps::gpu
