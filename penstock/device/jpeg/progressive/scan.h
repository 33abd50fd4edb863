// Decoding progressive JPEG files: what the kernel knows of each scan of a picture.
//
//   bits.h     the bytes of a scan without stuffing, as they are needed
//   codes.h    look-up tables of a scan's Huffman codes
//   means.h    scans of DC values
//   band.h     scans of AC coefficients: the first one of a band, and those that refine it
//   scans.h    the kernel: a block of threads for a picture, in which each warp decodes a scan
//   place.h    the coefficients that all scans together have of a block
//
// A scan that refines a band can be read only where it is known which coefficients are zero up to then, so its warp
// follows that of the scan before at a distance of a few blocks: all scans of a picture are decoded at the same time.
// What scans find of a block are bits, one for each coefficient: nobody reads coefficients while scans are decoded.
#pragma once

#include "device/base/block_scan.h"
#include "device/jpeg/jpeg.h"

namespace ps::device {

inline constexpr int kJpegScanWarps = 4;                           // scans of a picture that are decoded at a time
inline constexpr int kJpegMostScans = 64, kJpegPrevious = 4;

// Bytes of the file between two restart markers.
struct JpegSegment {
  uint32_t begin, end;
};

struct JpegScan {
  const JpegSegment* segment;
  const JpegCodes* codes[3];           // for DC, of each component; for AC there is one
  int16_t* first_values;               // of a band's first scan: 64 for each block, of which those in `nonzero` are set
  uint64_t* nonzero;                   // of each block, which of the band's coefficients are not zero after this scan
  uint64_t *value, *negative;          // of a later scan: which have a one here, and which of the new ones are negative
  uint32_t segments, interval;         // units in each segment but the last
  uint32_t units;                      // MCUs of several components, or blocks of one, that are needed
  int32_t columns;                     // of units in a row
  uint8_t components, component[3];
  uint8_t first, last, low, later;     // the bits from `low` on of these coefficients; it refines what came before
  uint8_t previous_count, previous[kJpegPrevious];   // the scans that it refines

  PS_FN uint64_t band() const { return ~uint64_t(0) >> (63 - last) & ~uint64_t(0) << first; }
};

}  // namespace ps::device
