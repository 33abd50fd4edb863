// Pictures that are decoded together: all kernels run once for all of them.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cuda/decode/jpeg/work.h"
#include "cuda/record/recorder.h"

namespace ps::gpu {

// Either all of them are progressive, or none is.
class JpegGroup {
 public:
  // Coefficients lie in half of `memory` bytes at a time, or in less: they are the most that a batch needs.
  JpegGroup(const DecodeOptions& options, int64_t memory);
  ~JpegGroup();
  JpegGroup(const JpegGroup&) = delete;
  JpegGroup& operator=(const JpegGroup&) = delete;

  // `file`, `index`: where they are on the GPU.
  void add(const CudaJpeg::Item& item, const uint8_t* file, const uint32_t* index);
  int64_t bytes() const;
  size_t size() const { return work_.size(); }

  // `there`: for what kernels know of each, or null. Calls known() where it is known which pictures can be decoded.
  // Half of the work goes into `beside`, which r runs: this, and both of them, must be there until then.
  void decode(Recorder& r, Recorder& beside, CUstream stream_beside, device::JpegStatus* status,
              device::JpegPicture* there, const std::function<void()>& known);
  // The same of progressive pictures, in two parts.
  void decode_scans(Recorder& r, device::JpegStatus* status, device::JpegPicture* there);
  void make_pixels(Recorder& r) { make_pixels(r, {0, work_.size()}); }

  static const std::vector<std::string>& sources();                // of its kernels, for UINT8
  static std::string convert_source(DType to);                     // of the one more for another type

 private:
  // Pictures from `begin` to `end`. Coefficients and samples of one range take the memory of the last but one.
  struct Range {
    size_t begin, end;
  };
  void synchronize(Recorder& r, device::JpegStatus* status, device::JpegPicture* there);
  void find_coefficients(Recorder& r, Range pictures);
  void make_pixels(Recorder& r, Range pictures);
  int stretch(uint32_t (*bits_of)(const device::JpegPicture&)) const;
  template <class Blocks> void launch(Recorder& r, Range pictures, const std::string& kernel, Blocks blocks_of,
                                      int shared, int threads = device::kJpegThreads);
  const device::JpegTable* make_tables(Recorder& r);
  void divide(Device& device);
  void give_memory(Recorder& r, device::JpegStatus* status);
  void upload(Recorder& r, device::JpegPicture* there);

  const DecodeOptions& options_;
  const int64_t room_;                       // bytes for coefficients, of two ranges
  JpegTablePool pool_;
  std::vector<JpegWork> work_;
  int64_t sparse_ = 0, largest_sparse_ = 0;                  // bytes of coefficients, and of those of one picture
  int64_t synchronizing_ = 0, others_ = 0;                   // bytes where coefficients lie later, and of all else
  std::vector<Range> ranges_;
  EventRef found_beside_;                    // all coefficients in the other stream
  device::JpegPicture* pictures_ = nullptr;  // in pinned memory
  device::JpegPicture* there_ = nullptr;     // the same on the GPU
};

}  // namespace ps::gpu
