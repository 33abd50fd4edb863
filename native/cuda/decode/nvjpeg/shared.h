// One nvJPEG decoder for all pipelines that want the same of a GPU. It takes most of a second to make, which
// happens in the background.
#pragma once

#include <future>
#include <memory>
#include <mutex>
#include <vector>

#include "cuda/decode/nvjpeg/batched.h"

namespace ps::gpu {

class SharedJpeg {
 public:
  // By the GPU's engines, or nvJPEG's kernels where it has none: the options' backend does not count. Returns at once;
  // null: nvJPEG is missing.
  static std::shared_ptr<SharedJpeg> of(int device, const BatchedJpeg::Options& options);
  SharedJpeg(int device, const BatchedJpeg::Options& options);
  ~SharedJpeg();

  // As BatchedJpeg::decode(), from any thread. Waits until the decoder is made, and for other threads that use it.
  std::vector<int> decode(const JpegItem* items, int n, JpegOutput output, CUstream stream);

 private:
  void make(int device, BatchedJpeg::Options options);

  std::mutex mutex_;                               // guards the decoder
  DeviceRef device_ = nullptr;
  // Of its own: nvJPEG may refer to a stream later, when the pipeline that it belonged to is gone.
  std::unique_ptr<Stream> stream_;
  std::unique_ptr<BatchedJpeg> decoder_;
  std::shared_future<void> made_;
};

}  // namespace ps::gpu
