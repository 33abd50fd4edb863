// The scans of progressive pictures, as the kernel needs them (penstock/device/jpeg/progressive/scan.h).
#pragma once

#include <vector>

#include "cuda/decode/jpeg/work.h"
#include "cuda/record/recorder.h"
#include "decode/jpeg/scan_list.h"
#include "device/jpeg/progressive/scan.h"

namespace ps::gpu {

// Those that the window needs; for `work`, of which all else is known.
void add_scans(const CudaJpeg::Item& item, JpegWork& work);
// Bytes of what they find.
int64_t scan_bytes(const JpegWork& work);
// Room for that.
void add_scan_memory(JpegWork& work, device::JpegPicture& picture, MemoryLayout& layout);

// What all scans of a group need on the GPU, which goes over in a few copies.
class JpegScanUpload {
 public:
  void add(const JpegWork& work, device::JpegPicture& picture);    // where add_scan_memory() has put it
  void put(Recorder& r);                                           // pictures are told where it lies
  size_t bytes() const;

 private:
  struct Place {
    device::JpegPicture* picture;
    size_t scan;
  };
  struct Offsets {
    size_t segment, codes;
  };
  std::vector<Place> places_;
  std::vector<Offsets> offsets_;                                   // of each scan
  std::vector<device::JpegScan> scans_;
  std::vector<device::JpegSegment> segments_;
  std::vector<device::JpegCodes> codes_;
};

}  // namespace ps::gpu
