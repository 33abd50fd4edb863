// The pictures of a batch that a fused kernel reads where their decoders leave them. Each has memory for its planes of
// samples or, where another decoder has to take it, its pixels: only as much of them as the kernel needs.
#pragma once

#include <vector>

#include "cuda/record/recorder.h"

namespace ps::gpu {

class DecodedViews {
 public:
  DecodedViews(Recorder& r, const DecodedInput& input);
  // The decoder's, with an output of the size that is needed: other decoders write to it as to any output.
  const Context& context(int sample) const { return contexts_[size_t(sample)]; }
  // For all samples. Those in `given` go to our kernels first, and planes of theirs need so much room.
  void give_memory(Recorder& r, const std::vector<Context>& given, const std::vector<size_t>& room);
  // On the GPU: room for the JpegPictures of the samples that our kernels are given.
  device::JpegPicture* pictures() const { return known_; }
  // `order`: the given sample (its index) of each of pictures(). These are left as planes, except those refused, which
  // get memory for their pixels: they take more than planes.
  void set_planes(Recorder& r, const std::vector<int>& order, const std::vector<int>& refused);
  void copy(CUstream stream) const;                  // the views, to the GPU

 private:
  std::vector<Tensor> pictures_;
  std::vector<Tensor*> outputs_;
  std::vector<Context> contexts_;
  std::vector<bool> planes_;                         // by sample
  std::vector<int> given_;                           // samples
  device::DecodedView *views_, *there_;              // in pinned memory; on the GPU
  device::JpegPicture* known_ = nullptr;
};

}  // namespace ps::gpu
