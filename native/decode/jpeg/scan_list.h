// The scans of a progressive file, found without decoding: what each of them has, and between which bytes it lies.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include "decode/jpeg/header.h"

namespace ps::jpeg {

// Encoders write about ten. More are left to libjpeg, with its limit.
inline constexpr int kMostScans = 64;

// From which bit on each coefficient is known.
class KnownBits {
 public:
  KnownBits();
  // False: the scan does not follow on those before it.
  bool add(const Scan& scan);
  // Whether nothing is left out (what is, libjpeg smooths).
  bool complete(int components) const;

 private:
  int8_t bits_[kMaxComponents][64];          // -1: not at all
};

// The marker behind a scan that begins at `at`, or the end of the data.
size_t end_of_scan(const uint8_t* data, size_t size, size_t at);

// Bytes between two restart markers.
struct ScanSegment {
  uint32_t begin, end;
};

struct ListedScan {
  Scan scan;
  const HuffmanSpec* tables = nullptr;       // of DC for each component; of AC, one; none for later scans of DC
  int restart_interval = 0;                  // in MCUs, or in blocks of a single component; 0: none
  const ScanSegment* segments = nullptr;     // all of them
  int segment_count = 0;
  size_t bytes = 0;
};

struct ScanList {
  const ListedScan* scans = nullptr;
  int count = 0;
};

// Lists the scans behind a progressive header. `take`: memory for the list. False: too many, not complete, or anything
// that ProgressiveDecoder leaves to libjpeg before it decodes.
bool list_scans(const uint8_t* data, size_t size, Header header, const std::function<void*(size_t)>& take,
                ScanList& list);

}  // namespace ps::jpeg
