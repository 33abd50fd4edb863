// Pictures that are decoded together: all kernels run once for all of them.
#pragma once

#include <string>
#include <vector>

#include "cuda/decode/jpeg/work.h"
#include "cuda/record/recorder.h"

namespace ps::gpu {

// Either all of them are progressive, or none is.
class JpegGroup {
 public:
  explicit JpegGroup(const DecodeOptions& options);
  ~JpegGroup();
  JpegGroup(const JpegGroup&) = delete;
  JpegGroup& operator=(const JpegGroup&) = delete;

  // `file`, `index`: where they are on the GPU.
  void add(const CudaJpeg::Item& item, const uint8_t* file, const uint32_t* index);
  int64_t bytes() const { return bytes_; }
  size_t size() const { return work_.size(); }

  // Up to where it is known which pictures can be decoded. `there`: for what kernels know of each, or null.
  void decode_scans(Recorder& r, device::JpegStatus* status, device::JpegPicture* there);
  void make_pixels(Recorder& r);

  static const std::vector<std::string>& sources();                // of its kernels, for UINT8
  static std::string convert_source(DType to);                     // of the one more for another type

 private:
  void decode_sequential(Recorder& r, device::JpegStatus* status, device::JpegPicture* there);
  void decode_progressive(Recorder& r, device::JpegStatus* status, device::JpegPicture* there);
  int stretch(uint32_t (*bits_of)(const device::JpegPicture&)) const;
  template <class Blocks> void launch(Recorder& r, const std::string& kernel, Blocks blocks_of, int shared,
                                      int threads = device::kJpegThreads);
  const device::JpegTable* make_tables(Recorder& r);
  void divide(Device& device);
  void give_memory(Recorder& r, device::JpegStatus* status);
  void upload(Recorder& r, device::JpegPicture* there);

  const DecodeOptions& options_;
  JpegTablePool pool_;
  std::vector<JpegWork> work_;
  int64_t bytes_ = 0;
  device::JpegPicture* pictures_ = nullptr;  // in pinned memory
  device::JpegPicture* there_ = nullptr;     // the same on the GPU
};

}  // namespace ps::gpu
